import type { FullConfig, Reporter, Suite } from "@playwright/test/reporter";

/** Names the tests that passed only at their second try, so that none of them stays unnoticed. */
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
