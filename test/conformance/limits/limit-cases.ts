import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js';
import formats from 'ajv-formats';
import { isObject, type Json, type JsonObject, objects } from '../../../openapi/tools/document.ts';
import { type Keyword, keywords } from './limit-keywords.ts';
import { limitSites, type Site, type Step } from './limit-sites.ts';
import { pairs, withRequiredFields } from './limit-values.ts';

/** A value at a limit, and the same value with one change beyond it. */
export interface LimitCase {
  /** Path of the limited field, as in error messages. Empty for the whole value. */
  field: string;
  keyword: Keyword;
  limit: Json;
  at: Json;
  beyond: Json;
}

/** Keywords that no value can violate. */
const unviolatable = new Set<Keyword>(['default', 'minContains']);

export interface LimitCases {
  cases: LimitCase[];
  /** Limits that no example reaches. */
  missing: string[];
}

/**
 * Derives a value at each limit of a schema and one beyond it from examples of the whole value. The schema validates
 * both: the first must be valid, the second must violate that limit. Skips schemas in `checkedSchemas` and adds the
 * others to it.
 */
export function limitCases(
  document: JsonObject,
  pointer: string,
  examples: readonly Json[],
  checkedSchemas: Set<JsonObject> = new Set(),
): LimitCases {
  const validate = validator(document, pointer);
  const found = new Map<JsonObject, Map<Keyword, LimitCase | string>>();
  const sites = limitSites(document, { $ref: pointer }).filter(({ node }) => !checkedSchemas.has(node));
  for (const site of sites) {
    checkedSchemas.add(site.node);
    // Several paths may lead to a schema. A case on one of them is enough.
    const ofNode = found.get(site.node) ?? new Map<Keyword, LimitCase | string>();
    found.set(site.node, ofNode);
    for (const keyword of keywords) {
      const limit = site.node[keyword];
      if (limit === undefined || unviolatable.has(keyword) || typeof ofNode.get(keyword) === 'object')
        continue;
      const field = site.path.map(({ key }) => key).join('.');
      const values = findCase(document, validate, site, keyword, limit, examples);
      // A changed tag would select another member.
      if (values === undefined && site.isOpenTag) continue;
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
  const violatesLimit = (value: Json) => {
    validate(value);
    const errors = validate.errors ?? [];
    return errors.some((error) => error.parentSchema === node && error.keyword === keywordOf(keyword));
  };
  for (const example of examples) {
    const candidates = [
      valueAt(example, path),
      ...of.flatMap((one) => (Array.isArray(one.examples) ? one.examples : [])),
    ];
    const samples = candidates.filter((one) => one !== undefined);
    for (const pair of pairs(document, keyword, limit, { node, samples, of })) {
      for (const fresh of [false, true]) {
        const at = put(document, example, path, pair.at, fresh);
        if (!validate(at)) continue;
        const beyond = put(document, example, path, pair.beyond, fresh);
        if (violatesLimit(beyond)) return { at, beyond };
      }
    }
  }
  return undefined;
}

/** Ajv reports both bounds of `contains` under that keyword. */
const keywordOf = (keyword: Keyword) => (keyword === 'maxContains' ? 'contains' : keyword);

function valueAt(value: Json | undefined, path: readonly Step[]): Json | undefined {
  const [step, ...rest] = path;
  if (step === undefined) return value;
  const inside = isObject(value) || Array.isArray(value) ? (value as JsonObject)[step.key] : undefined;
  return valueAt(inside, rest);
}

/**
 * Returns the value with `to` at the path. Creates missing parents, and replaces parents with another tag. `fresh`
 * replaces the last parent with a new object.
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
  const isReusable = isObject(value) && hasTags(value, step.of) && !(fresh && rest.length === 0);
  const object = withRequiredFields(document, isReusable ? value : {}, step.of);
  return { ...object, [step.key]: put(document, object[step.key], rest, to, fresh) };
}

/** Whether the object has the tags that the schemas require. */
const hasTags = (object: JsonObject, schemas: readonly JsonObject[]) =>
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
  const compiled = validators.get(pointer) ?? ajv.compile({ $ref: `contract${pointer}` });
  validators.set(pointer, compiled);
  return compiled;
}

function compiler(document: JsonObject): Ajv2020 {
  const ajv = new Ajv2020({ strict: false, allErrors: true, verbose: true });
  formats.default(ajv);
  ajv.addFormat('binary', true);
  // Ajv keeps the identity of the schemas, so that `parentSchema` of an error identifies the violated limit.
  ajv.addSchema(document, 'contract');
  return ajv;
}
