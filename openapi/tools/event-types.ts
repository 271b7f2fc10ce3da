import openapiTS, { astToString, type OpenAPI3 } from 'openapi-typescript';
import type { JsonObject } from './document.ts';
import type { Events } from './events.ts';
import { header } from './source-text.ts';

/** Renders generated/events.ts: a type for each payload schema and a union for each side of a channel. */
export async function eventTypesSource({ schemas, unions }: Events): Promise<string> {
  const named: Record<string, JsonObject> = { ...schemas };
  for (const { name, members } of unions) {
    if (named[name]) throw new Error(`Rename schema ${name}: a channel's events have the same name.`);
    named[name] = { oneOf: members.map((member) => ({ $ref: `#/components/schemas/${member}` })) };
  }
  return schemaTypesSource(named);
}

/** Renders a type for each schema, with its name. */
export async function schemaTypesSource(schemas: Record<string, object>): Promise<string> {
  const document = {
    openapi: '3.1.0',
    info: { title: 'Schemas', version: '1' },
    paths: {},
    components: { schemas: structuredClone(schemas) },
  };
  const nodes = await openapiTS(document as unknown as OpenAPI3, {
    defaultNonNullable: false,
    rootTypes: true,
    rootTypesNoSchemaPrefix: true,
  });
  return `${header}\n${astToString(nodes)}`;
}
