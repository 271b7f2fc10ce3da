import { readFileSync } from 'node:fs';
import { Ajv2020, type ErrorObject, type ValidateFunction } from 'ajv/dist/2020.js';
import formats from 'ajv-formats';
import type { JsonObject } from '../../../openapi/tools/document.ts';
import { bundle, type Located } from './documented.ts';

/** The AsyncAPI bundle. */
export const eventBundle = JSON.parse(
  readFileSync(new URL('../../../generated/asyncapi.json', import.meta.url), 'utf8'),
) as JsonObject;

const ajv = new Ajv2020({ strict: false, allErrors: true });
formats.default(ajv);
ajv.addFormat('binary', true);
ajv.addSchema({ ...bundle, $id: 'openapi' });
ajv.addSchema({ ...eventBundle, $id: 'asyncapi' });

const compiled = new Map<string, ValidateFunction>();

function check(reference: string, value: unknown): string[] {
  const validate = compiled.get(reference) ?? ajv.compile({ $ref: reference });
  compiled.set(reference, validate);
  return validate(value) ? [] : (validate.errors ?? []).map(explain);
}

const explain = ({ instancePath, message, params }: ErrorObject) =>
  `${instancePath === '' ? '(whole)' : instancePath} ${message ?? ''} ${JSON.stringify(params)}`;

/** What is wrong with a value by a schema of the OpenAPI document; empty when it is valid. */
export const schemaProblems = ({ pointer }: Located, value: unknown): string[] =>
  check(`openapi${pointer}`, value);

/** The same by a component schema of the AsyncAPI document. */
export const eventProblems = (name: string, value: unknown): string[] =>
  check(`asyncapi#/components/schemas/${name}`, value);
