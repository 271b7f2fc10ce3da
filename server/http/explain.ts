/** One violation of the contract. */
export interface Violation {
  /** The keyword of the schema, for example `pattern`. */
  keyword: string;
  /** Such as `/body/input/text`. */
  path: string;
  message: string;
}

/** What a value that is to match a pattern must be, by the pattern. */
export type Forms = ReadonlyMap<string, string>;

/** Most violations that are named at once. */
const maxReported = 3;

/** The words that the contract has for its patterns: `x-form`, beside each that has any. */
export function formsOf(contract: unknown): Forms {
  const forms = new Map<string, string>();
  const visit = (node: unknown): void => {
    if (typeof node !== 'object' || node === null) return;
    const { pattern, 'x-form': form } = node as Record<string, unknown>;
    if (typeof pattern === 'string' && typeof form === 'string') forms.set(pattern, form);
    for (const value of Object.values(node)) visit(value);
  };
  visit(contract);
  return forms;
}

/** What is wrong with a request, in words that name each field: `input.text: is required; voice: …`. */
export function explain(violations: readonly Violation[], forms: Forms): string {
  const ofPatterns = new Set(violations.filter((one) => isOf(one, 'pattern')).map(({ path }) => path));
  const plain = violations
    .filter((one) => !isOf(one, 'if', 'oneOf', 'anyOf', 'discriminator'))
    // An address of the wrong kind need not be told that it is none.
    .filter((one) => !(isOf(one, 'format') && ofPatterns.has(one.path)));
  if (plain.length === 0) return explainAll(violations, forms);
  const alternatives = violations.some((one) => isOf(one, 'oneOf', 'anyOf'));
  return alternatives ? explainNearest(plain, forms) : explainAll(plain, forms);
}

/** Of alternatives that all fail, only those count that the request came nearest to. */
function explainNearest(violations: readonly Violation[], forms: Forms): string {
  const furthest = Math.max(...violations.map(nearness));
  const nearest = violations.filter((one) => nearness(one) === furthest);
  const places = new Set(nearest.map(placeOf));
  const [place = ''] = places;
  if (nearest.length === 1 || places.size > 1) return explainAll(nearest, forms);
  if (nearest.every(isMissing)) {
    const names = nearest.map(({ path }) => path.slice(place.length + 1));
    return `${fieldName(place)}: must have at least one of ${[...new Set(names)].join(', ')}`;
  }
  if (!nearest.every(isOfWrongType)) return explainAll(nearest, forms);
  return `${fieldName(place)}: must be ${nearest.map(({ message }) => typesOf(message)).join(' or ')}`;
}

/** More than any depth. */
const ofRightType = 1000;

/** What is only out of its range is nearest; else the deeper, and at one depth what is missing before a wrong type. */
function nearness(violation: Violation): number {
  const depth = placeOf(violation).split('/').length * 2;
  if (isOfWrongType(violation)) return depth;
  return isMissing(violation) ? depth + 1 : ofRightType + depth;
}

/** Where the schema stands that was violated. */
function placeOf(violation: Violation): string {
  const { path } = violation;
  return isMissing(violation) ? path.slice(0, path.lastIndexOf('/')) : path;
}

function isMissing({ message }: Violation): boolean {
  return message.startsWith('must have required property ');
}

function isOfWrongType(violation: Violation): boolean {
  return isOf(violation, 'type');
}

/** Whether one of these keywords of the schema was violated. */
function isOf({ keyword }: Violation, ...keywords: readonly string[]): boolean {
  return keywords.includes(keyword);
}

function typesOf(message: string): string {
  return message.replace(/^must be /, '').replaceAll(',', ' or ');
}

function explainAll(violations: readonly Violation[], forms: Forms): string {
  return violations
    .slice(0, maxReported)
    .map((violation) => tellOne(violation, forms))
    .join('; ');
}

function tellOne(violation: Violation, forms: Forms): string {
  const { path, message } = violation;
  const missingTag = /^tag "(.+)" must be string$/.exec(message);
  if (missingTag !== null) return `${fieldName(`${path}/${missingTag[1]}`)}: is required, as a string`;
  return `${fieldName(path)}: ${isMissing(violation) ? 'is required' : problemOf(violation, forms)}`;
}

function problemOf(violation: Violation, forms: Forms): string {
  const { message } = violation;
  if (isOfWrongType(violation)) return `must be ${typesOf(message)}`;
  const [, choices] = /^must be equal to one of the allowed values: (.+)$/s.exec(message) ?? [];
  if (choices !== undefined) return `must be one of ${choices}`;
  const [, pattern] = /^must match pattern "(.+)"$/s.exec(message) ?? [];
  if (pattern !== undefined) return forms.get(pattern) ?? 'is not in the right form';
  if (message === 'must match format "uri"') return 'must be a valid URL';
  const [, max] = /^must contain at least 0 and no more than (\d+) valid/.exec(message) ?? [];
  return max === undefined ? message : `must have at most ${max} items of one kind`;
}

/** `/body/input/text` → `input.text`, `/query/limit` → `limit`, `/body` → `body`. */
function fieldName(path: string): string {
  const parts = path
    .split('/')
    .slice(1)
    .map((part) => part.replaceAll('~1', '/').replaceAll('~0', '~'));
  return parts.length > 1 ? parts.slice(1).join('.') : (parts[0] ?? 'body');
}
