import { readFileSync } from 'node:fs';

/** The bytes of both bundles, as they are served. */
export const contractDocuments = {
  openapi: readFileSync(new URL('../../generated/openapi.json', import.meta.url)),
  asyncapi: readFileSync(new URL('../../generated/asyncapi.json', import.meta.url)),
};

let parsed: object | undefined;

/** Returns the parsed OpenAPI bundle. All callers share one object, which must not be changed. */
export function openApiBundle(): object {
  parsed ??= JSON.parse(contractDocuments.openapi.toString('utf8')) as object;
  return parsed;
}
