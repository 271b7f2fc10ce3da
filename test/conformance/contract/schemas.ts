import { Ajv2020, type ErrorObject, type ValidateFunction } from 'ajv/dist/2020.js';
import formats from 'ajv-formats';
import { type JsonObject, refName, text } from '../../../openapi/tools/document.ts';
import { bundle, type Located } from './documented.ts';
import { readDocument } from './read-document.ts';

/** The AsyncAPI bundle. */
export const eventBundle = readDocument('asyncapi');

const ajv = new Ajv2020({ strict: false, allErrors: true, verbose: true });
formats.default(ajv);
ajv.addFormat('binary', true);
ajv.addSchema({ ...bundle, $id: 'openapi' });
ajv.addSchema({ ...eventBundle, $id: 'asyncapi' });

const compiled = new Map<string, ValidateFunction>();

function errorsOf(reference: string, value: unknown): ErrorObject[] {
  const validate = compiled.get(reference) ?? ajv.compile({ $ref: reference });
  compiled.set(reference, validate);
  return validate(value) ? [] : (validate.errors ?? []);
}

const check = (reference: string, value: unknown): string[] =>
  explained(errorsOf(reference, value), reference.split('#', 1)[0] ?? '').map(explain);

const explain = ({ instancePath, message, params, branch }: ExplainedError) =>
  `${instancePath === '' ? '(whole)' : instancePath} ${message ?? ''} ${JSON.stringify(params)}${branch === undefined ? '' : ` (as ${branch})`}`;

/** An error of Ajv, and the member of a union that it concerns. */
interface ExplainedError extends ErrorObject {
  branch?: string;
}

/** Replaces the errors of all members of a union with those of the member that the value is meant to be. */
function explained(errors: readonly ErrorObject[], document: string): ExplainedError[] {
  const unions = errors.filter(
    ({ keyword, params }) => (keyword === 'oneOf' && params.passingSchemas === null) || keyword === 'anyOf',
  );
  // The outermost union includes those inside it.
  const outer = unions.filter(
    ({ instancePath }, index) =>
      !unions.some((other, at) => at !== index && isBelow(instancePath, other.instancePath) && at > index),
  );
  const members = outer.map((union) => errorsOfMembers(union, document));
  const ofMembers = new Set(members.flatMap(({ all }) => all.map(identity)));
  const others = errors.filter((one) => !outer.includes(one) && !ofMembers.has(identity(one)));
  return [...others, ...members.flatMap(({ best }) => best)];
}

const identity = ({ instancePath, keyword, message }: ErrorObject) => `${instancePath} ${keyword} ${message}`;

const isBelow = (path: string, parent: string) => path === parent || path.startsWith(`${parent}/`);

const validators = new WeakMap<object, ValidateFunction>();

/**
 * Returns the errors of the closest member, whose tag fits and of which the fewest fields differ, and those of all
 * members.
 */
function errorsOfMembers(
  union: ErrorObject,
  document: string,
): { best: ExplainedError[]; all: ErrorObject[] } {
  const located = (error: ErrorObject) => ({
    ...error,
    instancePath: union.instancePath + error.instancePath,
  });
  const attempts = (union.schema as JsonObject[]).map((member) => {
    const absolute = JSON.stringify(member).replaceAll('"$ref":"#', `"$ref":"${document}#`);
    const validate = validators.get(member) ?? ajv.compile(JSON.parse(absolute) as JsonObject);
    validators.set(member, validate);
    validate(union.data);
    const errors = validate.errors ?? [];
    const found = explained(errors, document);
    const isTag = ({ keyword, instancePath }: ErrorObject) =>
      keyword === 'type' && instancePath === ''
        ? true
        : keyword === 'const' && instancePath.split('/').length === 2;
    return {
      name: text(member.title) || refName(text(member.$ref)),
      errors,
      found,
      wrongTags: found.filter(isTag).length,
    };
  });
  const [best] = attempts.toSorted(
    (left, right) => left.wrongTags - right.wrongTags || left.found.length - right.found.length,
  );
  const all = attempts.flatMap(({ errors }) => errors.map(located));
  if (best === undefined || best.found.length === 0) return { best: [union], all };
  const named = best.found.map((error) => ({
    ...located(error),
    ...(error.branch === undefined && best.name !== '' && { branch: best.name }),
  }));
  return { best: named, all };
}

/** Validates a value against a schema of the OpenAPI document. Returns the violations. */
export const schemaProblems = ({ pointer }: Located, value: unknown): string[] =>
  check(`openapi${pointer}`, value);

/** Does the same and returns the errors of Ajv. */
export const schemaErrors = ({ pointer }: Pick<Located, 'pointer'>, value: unknown): ErrorObject[] =>
  errorsOf(`openapi${pointer}`, value);

/** Validates a value against a component schema of the AsyncAPI document. Returns the violations. */
export const eventProblems = (name: string, value: unknown): string[] =>
  check(`asyncapi#/components/schemas/${name}`, value);
