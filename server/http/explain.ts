/** One violation of the contract. */
export interface Violation {
  /** The keyword of the schema, for example `pattern`. */
  keyword: string;
  /** Such as `/body/input/text`. */
  path: string;
  message: string;
}

/** Error messages by pattern. */
export type PatternMessages = ReadonlyMap<string, string>;

/** Violations in one message, at most. */
const maxReported = 3;

/** Collects `x-form` of every pattern in the contract. */
export function patternMessagesIn(contract: unknown): PatternMessages {
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

/** Describes violations with the field of each: `input.text: is required; voice: …`. */
export function describeViolations(violations: readonly Violation[], forms: PatternMessages): string {
  const ofPatterns = new Set(violations.filter((one) => isOf(one, 'pattern')).map(({ path }) => path));
  const plain = violations
    .filter((one) => !isOf(one, 'if', 'oneOf', 'anyOf', 'discriminator'))
    // The message of the pattern says enough.
    .filter((one) => !(isOf(one, 'format') && ofPatterns.has(one.path)));
  if (plain.length === 0) return describeAll(violations, forms);
  const alternatives = violations.some((one) => isOf(one, 'oneOf', 'anyOf'));
  return alternatives ? describeNearest(plain, forms) : describeAll(plain, forms);
}

/** Describes the alternatives that the request matches best. */
function describeNearest(violations: readonly Violation[], forms: PatternMessages): string {
  const furthest = Math.max(...violations.map(nearness));
  const nearest = violations.filter((one) => nearness(one) === furthest);
  const places = new Set(nearest.map(placeOf));
  const [place = ''] = places;
  if (nearest.length === 1 || places.size > 1) return describeAll(nearest, forms);
  if (nearest.every(isMissing)) {
    const names = nearest.map(({ path }) => path.slice(place.length + 1));
    return `${fieldName(place)}: must have at least one of ${[...new Set(names)].join(', ')}`;
  }
  if (!nearest.every(isOfWrongType)) return describeAll(nearest, forms);
  return `${fieldName(place)}: must be ${nearest.map(({ message }) => typesOf(message)).join(' or ')}`;
}

/** More than any depth. */
const ofRightType = 1000;

/** A value out of range is nearest. Otherwise the deeper violation wins, and a missing field before a wrong type. */
function nearness(violation: Violation): number {
  const depth = placeOf(violation).split('/').length * 2;
  if (isOfWrongType(violation)) return depth;
  return isMissing(violation) ? depth + 1 : ofRightType + depth;
}

/** Path of the violated schema. */
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

function describeAll(violations: readonly Violation[], forms: PatternMessages): string {
  return violations
    .slice(0, maxReported)
    .map((violation) => describeOne(violation, forms))
    .join('; ');
}

function describeOne(violation: Violation, forms: PatternMessages): string {
  const { path, message } = violation;
  const missingTag = /^tag "(.+)" must be string$/.exec(message);
  if (missingTag !== null) return `${fieldName(`${path}/${missingTag[1]}`)}: is required, as a string`;
  return `${fieldName(path)}: ${isMissing(violation) ? 'is required' : problemOf(violation, forms)}`;
}

function problemOf(violation: Violation, forms: PatternMessages): string {
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
