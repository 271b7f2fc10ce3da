/** Compiles model patterns, in which `*` stands for any run of characters, into one test. */
export function matcher(patterns: readonly string[]): (id: string) => boolean {
  const exact = new Set(patterns.filter((pattern) => !pattern.includes('*')));
  const wild = patterns.filter((pattern) => pattern.includes('*')).map(toExpression);
  return (id) => exact.has(id) || wild.some((expression) => expression.test(id));
}

function toExpression(pattern: string): RegExp {
  const literal = pattern.split('*').map((part) => part.replace(/[.*+?^${}()|[\]\\]/g, '\\$&'));
  return new RegExp(`^${literal.join('.*')}$`);
}
