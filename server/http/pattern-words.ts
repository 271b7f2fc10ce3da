/** Whole numbers that a pattern is tried with. */
const least = -1;
const maxCached = 10_000;

/** What a pattern of the contract asks for, where it is about addresses or whole numbers; else undefined. */
export function patternWords(pattern: string): string | undefined {
  if (pattern.includes('://')) return `must be ${addressWords(pattern)}`;
  if (!/^\^\([-|[\]\d{},]+\)\$$/.test(pattern)) return undefined;
  return `must be ${numberRanges(new RegExp(pattern)).join(' or ')}`;
}

/** The kinds of addresses that a pattern lets pass. */
function addressWords(pattern: string): string {
  // `[Hh][Tt]` → `ht`: a pattern has no flag for letter case.
  const plain = pattern.replace(/\[([A-Z])([a-z])\]/g, '$2');
  const kinds = [
    ...(plain.includes('https?://') ? ['an http or https URL'] : []),
    ...(plain.includes('oss://') ? ['an address of an object store (oss://)'] : []),
    ...(plain.includes('asset://') ? ['an asset reference (asset://)'] : []),
    ...(plain.includes('data:') ? ['a Base64 data URL'] : []),
  ];
  return kinds.length === 0 ? 'a URL' : kinds.join(' or ');
}

/** The numbers that match, for example `-1` and `2 to 30`. */
function numberRanges(pattern: RegExp): string[] {
  const ranges: string[] = [];
  let first: number | undefined;
  for (let number = least; number <= maxCached; number += 1) {
    const matches = pattern.test(String(number));
    if (matches) first ??= number;
    if (matches || first === undefined) continue;
    ranges.push(first === number - 1 ? `${first}` : `${first} to ${number - 1}`);
    first = undefined;
  }
  return ranges;
}
