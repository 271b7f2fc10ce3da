import openapiTS, { astToString, type OpenAPI3 } from 'openapi-typescript';
import type { JsonObject } from './document.ts';
import { header } from './source-text.ts';

/**
 * Renders generated/http.ts. Binary bodies have the type `string`, because the client's mapped types would expand a class
 * such as Blob. `parseAs` determines the type at run time.
 */
export async function httpTypesSource(openapi: JsonObject): Promise<string> {
  const nodes = await openapiTS(structuredClone(openapi) as unknown as OpenAPI3, {
    defaultNonNullable: false,
  });
  return `${header}\n${astToString(nodes)}`;
}
