import openapiTS, { astToString, type OpenAPI3 } from 'openapi-typescript';
import type { JsonObject } from './document.ts';
import type { Events } from './events.ts';
import { header } from './source-text.ts';

/** The source of generated/events.ts: a type for each payload schema and for what each side may send. */
export async function eventTypesSource({ schemas, unions }: Events): Promise<string> {
  const named: Record<string, JsonObject> = { ...schemas };
  for (const { name, members } of unions) {
    if (named[name]) throw new Error(`Schema ${name} has the name of a channel's events: rename it`);
    named[name] = { oneOf: members.map((member) => ({ $ref: `#/components/schemas/${member}` })) };
  }
  const document = {
    openapi: '3.1.0',
    info: { title: 'Events', version: '1' },
    paths: {},
    components: { schemas: structuredClone(named) },
  };
  const nodes = await openapiTS(document as unknown as OpenAPI3, {
    defaultNonNullable: false,
    rootTypes: true,
    rootTypesNoSchemaPrefix: true,
  });
  return `${header}\n${astToString(nodes)}`;
}
