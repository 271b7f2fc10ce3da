import type { ErrorObject } from 'ajv';

/** One violation of the contract. */
export interface Violation {
  /** The violated keyword of the schema, for example `pattern`. */
  readonly keyword: string;
  /** Such as `/body/input/text`. It includes the name of a missing or unknown field. */
  readonly path: string;
  /** The violated rule, for example `must be string`. */
  readonly rule: string;
  /** Details that Ajv reports for the keyword. */
  readonly params: Readonly<Record<string, unknown>>;
}

/** Maximum number of violations in one message. */
const maxReported = 3;
/** Keywords whose rule can be in `x-form` beside them. */
const keywordsWithForm = ['pattern', 'not', 'required', 'minimum'];

/** Converts an error of Ajv, which needs the option `verbose`. */
export function violationOf(error: ErrorObject): Violation {
  const { keyword, instancePath, parentSchema } = error;
  const params: Violation['params'] = error.params;
  const property = params.missingProperty ?? params.additionalProperty ?? params.unevaluatedProperty;
  const form: unknown = keywordsWithForm.includes(keyword) ? parentSchema?.['x-form'] : undefined;
  return {
    keyword,
    path: typeof property === 'string' ? `${instancePath}/${property}` : instancePath,
    rule: typeof form === 'string' ? form : ruleOf(error),
    params,
  };
}

function ruleOf({ keyword, params, message = 'is invalid' }: ErrorObject): string {
  switch (keyword) {
    case 'required':
      return missing;
    case 'type':
      return `must be ${String(params.type).replaceAll(',', ' or ')}`;
    case 'enum':
      return `must be one of ${(params.allowedValues as unknown[]).join(', ')}`;
    case 'pattern':
      return 'is not in the right form';
    case 'format':
      return params.format === 'uri' ? 'must be a valid URL' : message;
    case 'contains':
      return params.minContains === 0 ? `must have at most ${params.maxContains} items of one kind` : message;
    default:
      return message;
  }
}

const missing = 'is required';

/** Describes violations with the field of each: `input.text: is required; voice: …`. */
export function describeViolations(violations: readonly Violation[]): string {
  const ofPatterns = new Set(violations.filter((one) => isOf(one, 'pattern')).map(({ path }) => path));
  const plain = violations
    .filter((one) => !isOf(one, 'if', 'oneOf', 'anyOf', 'discriminator'))
    // The rule of the pattern is more precise.
    .filter((one) => !(isOf(one, 'format') && ofPatterns.has(one.path)));
  if (plain.length === 0) return describeAll(violations);
  const hasAlternatives = violations.some((one) => isOf(one, 'oneOf', 'anyOf'));
  return hasAlternatives ? describeNearest(plain) : describeAll(plain);
}

/** Describes the alternatives that the request matches best. */
function describeNearest(violations: readonly Violation[]): string {
  const furthest = Math.max(...violations.map(nearness));
  const nearest = violations.filter((one) => nearness(one) === furthest);
  const places = new Set(nearest.map(placeOf));
  const [place = ''] = places;
  if (nearest.length === 1 || places.size > 1) return describeAll(nearest);
  if (nearest.every(isMissing)) {
    const names = nearest.map(({ path }) => path.slice(place.length + 1));
    return `${fieldName(place)}: must have at least one of ${[...new Set(names)].join(', ')}`;
  }
  if (!nearest.every((one) => isOf(one, 'type'))) return describeAll(nearest);
  const types = nearest.map(({ rule }) => rule.replace('must be ', ''));
  return `${fieldName(place)}: must be ${types.join(' or ')}`;
}

/** More than any depth. */
const ofRightType = 1000;

/** A value out of range is nearest. Otherwise the deeper violation wins, and a missing field before a wrong type. */
function nearness(violation: Violation): number {
  const depth = placeOf(violation).split('/').length * 2;
  if (isOf(violation, 'type')) return depth;
  return isMissing(violation) ? depth + 1 : ofRightType + depth;
}

/** Path of the violated schema. */
function placeOf(violation: Violation): string {
  const { path } = violation;
  return isMissing(violation) ? path.slice(0, path.lastIndexOf('/')) : path;
}

function isMissing({ keyword, rule }: Violation): boolean {
  return keyword === 'required' && rule === missing;
}

/** Whether one of these keywords of the schema was violated. */
function isOf({ keyword }: Violation, ...keywords: readonly string[]): boolean {
  return keywords.includes(keyword);
}

function describeAll(violations: readonly Violation[]): string {
  // Alternatives can violate the same rule.
  const described = new Set(violations.map(describeOne));
  return [...described].slice(0, maxReported).join('; ');
}

function describeOne({ keyword, path, rule, params: { error, tag } }: Violation): string {
  // The field that selects a member of a union is missing or has the wrong type.
  if (keyword === 'discriminator' && error === 'tag')
    return `${fieldName(`${path}/${String(tag)}`)}: ${missing}, as a string`;
  return `${fieldName(path)}: ${rule}`;
}

/** `/body/input/text` → `input.text`, `/query/limit` → `limit`, `/body` → `body`. */
function fieldName(path: string): string {
  const parts = path
    .split('/')
    .slice(1)
    .map((part) => part.replaceAll('~1', '/').replaceAll('~0', '~'));
  return parts.length > 1 ? parts.slice(1).join('.') : (parts[0] ?? 'body');
}
