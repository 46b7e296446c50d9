import type { FullConfig, Reporter, Suite } from "@playwright/test/reporter";

/** Lists the tests that passed only on their second attempt. */
export default class Flaky implements Reporter {
  private suite: Suite | undefined;

  onBegin(_config: FullConfig, suite: Suite) {
    this.suite = suite;
  }

  onEnd() {
    const flaky = this.suite?.allTests().filter((test) => test.outcome() === "flaky") ?? [];
    for (const test of flaky) {
      console.log(`flaky: ${test.titlePath().filter(Boolean).join(" › ")}`);
    }
  }

  printsToStdio() {
    return false;
  }
}
