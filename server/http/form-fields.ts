import { invalid } from '../lib/failure.ts';
import { fieldName } from './form-parts.ts';

/** Value of a form: texts and converted files, nested as the part names describe. */
export type FormValue = string | FormValue[] | { [key: string]: FormValue };

const maxDepth = 8;
const maxNameLength = 256;

/**
 * Builds the JSON object that the part names describe: `video[url]` is a field of an object, `images[]` appends an item,
 * `images[0]` is an item by index. `list[][a]` is a field of the last item, or of a new one if it has that field. A
 * repeated plain name makes a list.
 *
 * @throws Failure 400 that names the part
 */
export function nestFields(
  fields: Iterable<readonly [name: string, value: FormValue]>,
): Record<string, FormValue> {
  const root: Record<string, FormValue> = {};
  for (const [name, value] of fields) insert(root, segments(name), value, name);
  return root;
}

/** `a[b][]` → `a`, `b`, and an empty segment. */
function segments(name: string): string[] {
  const wrong = (why: string) => invalid(fieldName(name), why);
  if (name.length > maxNameLength)
    throw wrong(`the name of a part must have at most ${maxNameLength} characters.`);
  const match = /^([^[\]]+)((?:\[[^[\]]*\])*)$/.exec(name);
  if (match === null) throw wrong('the name of a part must be like field[inner][].');
  const [, first = '', brackets = ''] = match;
  const inner = brackets === '' ? [] : brackets.slice(1, -1).split('][');
  if (inner.length >= maxDepth) throw wrong(`the name of a part must nest at most ${maxDepth} levels.`);
  if ([first, ...inner].includes('__proto__')) throw wrong('is not a valid name of a field.');
  return [first, ...inner];
}

/** Adds a leaf at the path. Returns the value with the leaf. */
function insert(
  present: FormValue | undefined,
  [segment, ...rest]: readonly string[],
  leaf: FormValue,
  name: string,
): FormValue {
  const conflict = () => invalid(fieldName(name), 'conflicts with another part of the form.');
  if (segment === undefined) {
    if (present === undefined) return leaf;
    if (typeof present === 'string') return [present, leaf];
    // A repeated name can only extend a list of texts.
    if (Array.isArray(present) && typeof leaf === 'string') return [...present, leaf];
    throw conflict();
  }
  if (segment === '' || (/^\d{1,4}$/.test(segment) && !isRecord(present))) {
    const list = present ?? [];
    if (!Array.isArray(list)) throw conflict();
    const index = segment === '' ? nextIndex(list, rest) : Number(segment);
    if (index > list.length) throw invalid(fieldName(name), `item ${list.length} of the list is missing.`);
    list[index] = insert(list[index], rest, leaf, name);
    return list;
  }
  const record = present ?? {};
  if (!isRecord(record)) throw conflict();
  record[segment] = insert(Object.hasOwn(record, segment) ? record[segment] : undefined, rest, leaf, name);
  return record;
}

/** Index of the last item if it lacks the field, otherwise of a new item. */
function nextIndex(list: readonly FormValue[], rest: readonly string[]): number {
  const last = list.at(-1);
  return last !== undefined && rest.length > 0 && !has(last, rest) ? list.length - 1 : list.length;
}

function has(value: FormValue, [segment, ...rest]: readonly string[]): boolean {
  if (segment === undefined) return true;
  if (segment === '' || !isRecord(value) || !Object.hasOwn(value, segment)) return false;
  const inner = value[segment];
  return inner !== undefined && has(inner, rest);
}

function isRecord(value: FormValue | undefined): value is { [key: string]: FormValue } {
  return typeof value === 'object' && !Array.isArray(value);
}
