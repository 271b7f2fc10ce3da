import openapiTS, { astToString, type OpenAPI3 } from 'openapi-typescript';
import type { JsonObject } from './document.ts';
import { header } from './source-text.ts';

/**
 * The source of generated/http.ts. Bytes stay `string` in it: a class such as Blob would be taken apart by the
 * client's mapped types, and `parseAs` decides what the caller gets anyway.
 */
export async function httpTypesSource(openapi: JsonObject): Promise<string> {
  const nodes = await openapiTS(structuredClone(openapi) as unknown as OpenAPI3, {
    defaultNonNullable: false,
  });
  return `${header}\n${astToString(nodes)}`;
}
