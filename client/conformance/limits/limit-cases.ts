import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js';
import formats from 'ajv-formats';
import { isObject, type Json, type JsonObject, objects } from '../../../openapi/tools/document.ts';
import { type Keyword, keywords } from './limit-keywords.ts';
import { limitSites, type Site, type Step } from './limit-sites.ts';
import { completed, pairs } from './limit-values.ts';

/** A value that is just allowed, and the same with one thing beyond a limit. */
export interface LimitCase {
  /** Path of the field that is limited, as a message names it; empty for the whole value. */
  field: string;
  keyword: Keyword;
  limit: Json;
  at: Json;
  beyond: Json;
}

/** Notes and ways of asking for nothing, which no value can break. */
const silent = new Set<Keyword>(['default', 'minContains']);

export interface LimitCases {
  cases: LimitCase[];
  /** Limits for which no example could be brought to the limit. */
  missing: string[];
}

/**
 * For each limit of a schema a value at it and one beyond it, made from examples of the whole value. The schema
 * itself judges: the first must fit it, the second must break that limit. Schemas that are `known` have had theirs.
 */
export function limitCases(
  document: JsonObject,
  pointer: string,
  examples: readonly Json[],
  known: Set<JsonObject> = new Set(),
): LimitCases {
  const validate = validator(document, pointer);
  const found = new Map<JsonObject, Map<Keyword, LimitCase | string>>();
  const sites = limitSites(document, { $ref: pointer }).filter(({ node }) => !known.has(node));
  for (const site of sites) {
    known.add(site.node);
    // A schema may be met on several ways; a case on one of them is enough.
    const ofNode = found.get(site.node) ?? new Map<Keyword, LimitCase | string>();
    found.set(site.node, ofNode);
    for (const keyword of keywords) {
      const limit = site.node[keyword];
      if (limit === undefined || silent.has(keyword) || typeof ofNode.get(keyword) === 'object') continue;
      const field = site.path.map(({ key }) => key).join('.');
      const values = findCase(document, validate, site, keyword, limit, examples);
      // Another tag is that of another member.
      if (values === undefined && site.selects) continue;
      const name = `${field} ${keyword} ${JSON.stringify(limit)}`;
      ofNode.set(keyword, values === undefined ? name : { field, keyword, limit, ...values });
    }
  }
  const all = [...found.values()].flatMap((byKeyword) => [...byKeyword.values()]);
  return {
    cases: all.filter((one) => typeof one === 'object'),
    missing: all.filter((one) => typeof one === 'string'),
  };
}

function findCase(
  document: JsonObject,
  validate: ValidateFunction,
  { node, path, of }: Site,
  keyword: Keyword,
  limit: Json,
  examples: readonly Json[],
): { at: Json; beyond: Json } | undefined {
  const breaks = (value: Json) => {
    validate(value);
    const errors = validate.errors ?? [];
    return errors.some((error) => error.parentSchema === node && error.keyword === keywordOf(keyword));
  };
  for (const example of examples) {
    const known = [
      valueAt(example, path),
      ...of.flatMap((one) => (Array.isArray(one.examples) ? one.examples : [])),
    ];
    const like = known.filter((one) => one !== undefined);
    for (const pair of pairs(document, keyword, limit, { node, like, of })) {
      for (const fresh of [false, true]) {
        const at = put(document, example, path, pair.at, fresh);
        if (!validate(at)) continue;
        const beyond = put(document, example, path, pair.beyond, fresh);
        if (breaks(beyond)) return { at, beyond };
      }
    }
  }
  return undefined;
}

/** Ajv tells both bounds of `contains` under that name. */
const keywordOf = (keyword: Keyword) => (keyword === 'maxContains' ? 'contains' : keyword);

function valueAt(value: Json | undefined, path: readonly Step[]): Json | undefined {
  const [step, ...rest] = path;
  if (step === undefined) return value;
  const inside = isObject(value) || Array.isArray(value) ? (value as JsonObject)[step.key] : undefined;
  return valueAt(inside, rest);
}

/**
 * The value with another one in the place of a path. What leads there is made where it is missing or of another
 * kind; `fresh` makes the last object anew, without what else stands in it.
 */
function put(
  document: JsonObject,
  value: Json | undefined,
  path: readonly Step[],
  to: Json,
  fresh: boolean,
): Json {
  const [step, ...rest] = path;
  if (step === undefined) return to;
  if (typeof step.key === 'number') {
    const list = Array.isArray(value) ? [...value] : [];
    list[step.key] = put(document, list[step.key], rest, to, fresh);
    return list.map((one) => one ?? {});
  }
  const keep = isObject(value) && isOfKind(value, step.of) && !(fresh && rest.length === 0);
  const object = completed(document, keep ? value : {}, step.of);
  return { ...object, [step.key]: put(document, object[step.key], rest, to, fresh) };
}

/** Whether the tags of an object are those that the schemas want. */
const isOfKind = (object: JsonObject, schemas: readonly JsonObject[]) =>
  schemas.every(({ properties }) =>
    objects(properties).every(
      ([name, { const: tag }]) => tag === undefined || object[name] === undefined || object[name] === tag,
    ),
  );

const validators = new Map<string, ValidateFunction>();
const compilers = new Map<JsonObject, Ajv2020>();

function validator(document: JsonObject, pointer: string): ValidateFunction {
  const ajv = compilers.get(document) ?? compiler(document);
  compilers.set(document, ajv);
  const known = validators.get(pointer) ?? ajv.compile({ $ref: `contract${pointer}` });
  validators.set(pointer, known);
  return known;
}

function compiler(document: JsonObject): Ajv2020 {
  const ajv = new Ajv2020({ strict: false, allErrors: true, verbose: true });
  formats.default(ajv);
  ajv.addFormat('binary', true);
  // Adding it by reference keeps the schemas' identity, by which an error tells which limit was broken.
  ajv.addSchema(document, 'contract');
  return ajv;
}
