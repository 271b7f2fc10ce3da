import { isObject, type Json } from '../../../openapi/tools/document.ts';

/** A successful call, as an invariant sees it. */
export interface Call {
  /** Parameters of the path, decoded. */
  path: Readonly<Record<string, string>>;
  /** The JSON body of the request, if any. */
  request: unknown;
  /** The JSON body of the response. */
  body: unknown;
  headers: Headers;
  /** Time of the response in epoch milliseconds. */
  now: number;
}

/** A rule about the meaning of a response. Returns the violations. */
export type Invariant = (call: Call) => string[];

/** The rules of an area, by operation. */
export type Invariants<Operation extends string> = Readonly<Partial<Record<Operation, readonly Invariant[]>>>;

/** A value and its place in the body, such as `data[1].id`. */
interface Found {
  at: string;
  value: unknown;
}

/** Returns the values at a path such as `data[].id`. Absent and null fields have no value. `*` matches every field. */
export function valuesAt(body: unknown, path: string): Found[] {
  let found: Found[] = [{ at: '', value: body }];
  for (const part of path.replaceAll('[]', '.[]').split('.').filter(Boolean)) {
    found = found.flatMap(({ at, value }) => {
      if (part === '[]')
        return Array.isArray(value) ? value.map((one, index) => ({ at: `${at}[${index}]`, value: one })) : [];
      if (!isObject(value)) return [];
      const names = part === '*' ? Object.keys(value) : [part];
      return names.map((name) => ({ at: at === '' ? name : `${at}.${name}`, value: value[name] }));
    });
  }
  return found.filter(({ value }) => value !== undefined && value !== null);
}

const valueAt = (body: unknown, path: string): unknown => valuesAt(body, path)[0]?.value;
const shown = (value: unknown) => JSON.stringify(value) ?? 'nothing';
const numbersAt = (body: unknown, path: string) => valuesAt(body, path).map(({ value }) => Number(value));

/** Compares texts by code unit and numbers by value. */
const compare = (left: unknown, right: unknown) =>
  typeof left === 'number' && typeof right === 'number'
    ? left - right
    : String(left) < String(right)
      ? -1
      : Number(String(left) > String(right));

/** The entries of a list are ordered by a field. Equal values may follow each other. */
export const ordered =
  (path: string, direction: 'ascending' | 'descending'): Invariant =>
  ({ body }) => {
    const values = valuesAt(body, path);
    const sign = direction === 'ascending' ? 1 : -1;
    const wrong = values.findIndex(
      ({ value }, at) => at > 0 && sign * compare(values[at - 1]?.value, value) > 0,
    );
    if (wrong < 0) return [];
    const { at, value } = values[wrong] as Found;
    return [
      `list order: ${at} is ${shown(value)} after ${shown(values[wrong - 1]?.value)}, not ${direction}`,
    ];
  };

/** A time in the past: Unix time in seconds or milliseconds, or a date. 0, -1 and an empty text mean no time. */
export const past = (path: string, unit: TimeUnit): Invariant => time(path, unit, -10 * year, 5 * minute);

/** A time in the past or up to ten years from now. */
export const anyTime = (path: string, unit: TimeUnit): Invariant => time(path, unit, -10 * year, 10 * year);

/** The time of this call. */
export const justNow = (path: string, unit: TimeUnit): Invariant => time(path, unit, -hour, 5 * minute);

type TimeUnit = 's' | 'ms' | 'date';
const minute = 60_000;
const hour = 60 * minute;
const year = 365 * 24 * hour;
const unitNames = { s: 'a Unix time in seconds', ms: 'a Unix time in milliseconds', date: 'a date' };

/** Returns a time in epoch milliseconds. A date without a time zone is UTC. */
function inMs(value: unknown, unit: TimeUnit): number {
  if (unit !== 'date') return Number(value) * (unit === 's' ? 1000 : 1);
  const text = String(value).replace(' ', 'T');
  return Date.parse(/(Z|[+-]\d\d:?\d\d)$/.test(text) ? text : `${text}Z`);
}

const hasNoTime = (value: unknown) => [0, -1, ''].includes(value as number | string);

function time(path: string, unit: TimeUnit, from: number, to: number): Invariant {
  return ({ body, now }) =>
    valuesAt(body, path).flatMap(({ at, value }) => {
      const ms = inMs(value, unit);
      if (hasNoTime(value) || (ms >= now + from && ms <= now + to)) return [];
      const others = (['s', 'ms'] as const).filter((one) => one !== unit && unit !== 'date');
      const other = others.find((one) => Math.abs(inMs(value, one) - now) < 10 * year);
      return [
        `time: ${at} is ${shown(value)}, which is not plausible as ${unitNames[unit]}${other === undefined ? '' : `, but as ${unitNames[other]}`}`,
      ];
    });
}

/** Times that follow each other in the same object, as far as they are present. */
export const chronological =
  (parent: string, unit: TimeUnit, ...fields: readonly string[]): Invariant =>
  ({ body }) =>
    valuesAt(body, parent).flatMap(({ at, value: object }) => {
      const times = fields.flatMap((field) =>
        valuesAt(object, field).filter(({ value }) => !hasNoTime(value)),
      );
      return times.flatMap((one, index) => {
        const before = times[index - 1];
        return before === undefined || inMs(before.value, unit) <= inMs(one.value, unit)
          ? []
          : [`time: ${joined(at, one.at)} ${shown(one.value)} is before ${before.at} ${shown(before.value)}`];
      });
    });

const joined = (parent: string, field: string) => (parent === '' ? field : `${parent}.${field}`);

/** A field is the request id of the header `x-request-id`. */
export const requestId =
  (path: string): Invariant =>
  ({ body, headers }) =>
    valuesAt(body, path).flatMap(({ at, value }) =>
      value === headers.get('x-request-id')
        ? []
        : [`${at} is ${shown(value)}, x-request-id is ${headers.get('x-request-id')}`],
    );

/** A field of the response equals a parameter of the path. */
export const sameAsPath =
  (path: string, parameter: string): Invariant =>
  ({ body, path: parameters }) =>
    valuesAt(body, path).flatMap(({ at, value }) =>
      parameters[parameter] === undefined || String(value) === parameters[parameter]
        ? []
        : [`id: ${at} is ${shown(value)}, the path has ${parameter} ${shown(parameters[parameter])}`],
    );

/** A field of the response equals a field of the request, if the request has it. */
export const sameAsRequest =
  (path: string, field: string): Invariant =>
  ({ body, request }) => {
    const wanted = valueAt(request, field);
    return wanted === undefined
      ? []
      : valuesAt(body, path).flatMap(({ at, value }) =>
          value === wanted ? [] : [`${at} is ${shown(value)}, the request has ${field} ${shown(wanted)}`],
        );
  };

/** Two fields of the same object have the same value, if both are present. */
export const equal =
  (parent: string, left: string, right: string): Invariant =>
  ({ body }) =>
    valuesAt(body, parent).flatMap(({ at, value: object }) => {
      const [one, other] = [valueAt(object, left), valueAt(object, right)];
      return one === undefined || other === undefined || one === other
        ? []
        : [`${joined(at, left)} is ${shown(one)}, but ${right} is ${shown(other)}`];
    });

/** The entries of a list are numbered from 0 in order. */
export const numbered =
  (path: string): Invariant =>
  ({ body }) => {
    const values = numbersAt(body, path);
    return values.every((value, at) => value === at)
      ? []
      : [`index: ${path} is ${shown(values)}, not 0 to ${values.length - 1} in order`];
  };

/** A list has one entry for each entry of a list in the request, or one for a single value. */
export const onePerInput =
  (path: string, field: string): Invariant =>
  ({ body, request }) => {
    const input = valueAt(request, field);
    if (input === undefined) return [];
    const isBatch = Array.isArray(input) && typeof input[0] !== 'number';
    const wanted = isBatch ? input.length : 1;
    const { length } = valuesAt(body, `${path}[]`);
    return length === wanted ? [] : [`${path} has ${length} entries for ${wanted} of ${field}`];
  };

/** A total is the sum of other fields of the same object. */
export const sum =
  (parent: string, total: string, ...parts: readonly string[]): Invariant =>
  ({ body }) =>
    valuesAt(body, parent).flatMap(({ at, value: object }) => {
      const actual = valueAt(object, total);
      const values = parts.flatMap((part) => numbersAt(object, part));
      const wanted = values.reduce((all, one) => all + one, 0);
      return actual === undefined || values.length === 0 || actual === wanted
        ? []
        : [`sum: ${joined(at, total)} is ${shown(actual)}, but ${parts.join(' + ')} is ${wanted}`];
    });

/** The total of a list is at least the number of its entries. */
export const totalOf =
  (total: string, list: string): Invariant =>
  ({ body }) => {
    const { length } = valuesAt(body, `${list}[]`);
    const all = Number(valueAt(body, total));
    return all >= length ? [] : [`sum: ${total} is ${all}, but ${list} has ${length} entries`];
  };

/** A value occurs only once. */
export const unique =
  (path: string): Invariant =>
  ({ body }) => {
    const values = valuesAt(body, path).map(({ value }) => value);
    const [twice] = values.filter((value, at) => values.indexOf(value) !== at);
    return twice === undefined ? [] : [`id: ${path} has ${shown(twice)} more than once`];
  };

/** A secret is abbreviated with `*` or an ellipsis. */
export const masked =
  (path: string): Invariant =>
  ({ body }) =>
    valuesAt(body, path).flatMap(({ at, value }) =>
      /\*|…|\.\.\.|^$/.test(String(value)) ? [] : [`secret: ${at} shows a complete key`],
    );

/** A secret is complete, because the response is the only one that contains it. */
export const complete =
  (path: string): Invariant =>
  ({ body }) =>
    valuesAt(body, path).flatMap(({ at, value }) =>
      /\*|…|\.\.\.|^$/.test(String(value))
        ? [`secret: ${at} is abbreviated in the response that creates it`]
        : [],
    );

/** A text, list or object is present and not empty. */
export const filled =
  (path: string): Invariant =>
  ({ body }) => {
    const value = valueAt(body, path);
    const isEmpty =
      value === undefined ||
      value === '' ||
      (typeof value === 'object' && Object.keys(value ?? {}).length === 0);
    return isEmpty ? [`result: ${path} is ${value === undefined ? 'missing' : 'empty'}`] : [];
  };

/** A field has one of these values, if it is present. */
export const oneOf =
  (path: string, ...values: readonly Json[]): Invariant =>
  ({ body }) =>
    valuesAt(body, path).flatMap(({ at, value }) =>
      values.includes(value as Json)
        ? []
        : [`${at} is ${shown(value)} instead of ${values.map(shown).join(' or ')}`],
    );

/** The first number is at most the second, in the same object, if both are present. */
export const atMost =
  (parent: string, smaller: string, larger: string): Invariant =>
  ({ body }) =>
    valuesAt(body, parent).flatMap(({ at, value: object }) => {
      const [low, high] = [valueAt(object, smaller), valueAt(object, larger)];
      return low === undefined || high === undefined || Number(low) <= Number(high)
        ? []
        : [`${joined(at, smaller)} is ${shown(low)}, above ${larger} ${shown(high)}`];
    });

/** Rules that apply to the objects at a path whose field has a value, such as a completed task. */
export const when =
  (path: string, field: string, value: Json, ...rules: readonly Invariant[]): Invariant =>
  (call) =>
    valuesAt(call.body, path).flatMap(({ at, value: object }) =>
      valueAt(object, field) === value
        ? rules.flatMap((rule) =>
            rule({ ...call, body: object }).map(
              (problem) => `${problem}, while ${joined(at, field)} is ${shown(value)}`,
            ),
          )
        : [],
    );

/** The same rules for the object at another path, such as each entry of a list. */
export const each =
  (path: string, rules: readonly Invariant[]): Invariant =>
  (call) =>
    valuesAt(call.body, path).flatMap(({ at, value }) =>
      rules.flatMap((rule) => rule({ ...call, body: value }).map((problem) => `${at}: ${problem}`)),
    );

/** A list or a Base64 text of little-endian 32-bit numbers, as the request asks for. */
export const encodedAsRequested =
  (path: string, field: string): Invariant =>
  ({ body, request }) => {
    if (request === undefined) return [];
    const format = valueAt(request, field) ?? 'float';
    return valuesAt(body, path).flatMap(({ at, value }) => {
      const actual = typeof value === 'string' ? 'base64' : 'float';
      return actual === format ? [] : [`${field}: ${at} is ${actual} instead of ${shown(format)}`];
    });
  };

/** A vector has the number of dimensions that the request asks for. */
export const dimensionsAsRequested =
  (path: string, field: string): Invariant =>
  ({ body, request }) => {
    const wanted = valueAt(request, field);
    return valuesAt(body, path).flatMap(({ at, value }) => {
      const length =
        typeof value === 'string' ? Buffer.from(value, 'base64').length / 4 : (value as unknown[]).length;
      return wanted === undefined || length === wanted
        ? []
        : [`${field}: ${at} has ${length} dimensions instead of ${shown(wanted)}`];
    });
  };
