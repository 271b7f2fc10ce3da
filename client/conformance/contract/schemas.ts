import { Ajv2020, type ErrorObject, type ValidateFunction } from 'ajv/dist/2020.js';
import formats from 'ajv-formats';
import { bundle, type Located } from './documented.ts';
import { readDocument } from './read-document.ts';

/** The AsyncAPI bundle. */
export const eventBundle = readDocument('asyncapi');

const ajv = new Ajv2020({ strict: false, allErrors: true });
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

const check = (reference: string, value: unknown): string[] => errorsOf(reference, value).map(explain);

const explain = ({ instancePath, message, params }: ErrorObject) =>
  `${instancePath === '' ? '(whole)' : instancePath} ${message ?? ''} ${JSON.stringify(params)}`;

/** What is wrong with a value by a schema of the OpenAPI document; empty when it is valid. */
export const schemaProblems = ({ pointer }: Located, value: unknown): string[] =>
  check(`openapi${pointer}`, value);

/** The same, as Ajv tells it. */
export const schemaErrors = ({ pointer }: Pick<Located, 'pointer'>, value: unknown): ErrorObject[] =>
  errorsOf(`openapi${pointer}`, value);

/** The same by a component schema of the AsyncAPI document. */
export const eventProblems = (name: string, value: unknown): string[] =>
  check(`asyncapi#/components/schemas/${name}`, value);
