/** Whole numbers that a pattern is tried with. */
const least = -1;
const most = 10_000;

/** What a pattern of the contract asks for, where it is about addresses or whole numbers; else undefined. */
export function patternWords(pattern: string): string | undefined {
  if (pattern.includes('://')) {
    const address = /https?:|\[Hh\]\[Tt\]/.test(pattern) ? 'an http or https URL' : 'a URL';
    return `must be ${address}${pattern.includes('data:') ? ' or a Base64 data URL' : ''}`;
  }
  if (!/^\^\([-|[\]\d{},]+\)\$$/.test(pattern)) return undefined;
  return `must be ${numberRanges(new RegExp(pattern)).join(' or ')}`;
}

/** The numbers that match, for example `-1` and `2 to 30`. */
function numberRanges(pattern: RegExp): string[] {
  const ranges: string[] = [];
  let first: number | undefined;
  for (let number = least; number <= most; number += 1) {
    const matches = pattern.test(String(number));
    if (matches) first ??= number;
    if (matches || first === undefined) continue;
    ranges.push(first === number - 1 ? `${first}` : `${first} to ${number - 1}`);
    first = undefined;
  }
  return ranges;
}
