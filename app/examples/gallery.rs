fn main() { println!("{}", app::render()); }
