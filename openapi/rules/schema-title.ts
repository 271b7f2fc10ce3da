import { basename } from 'node:path';
import type { Context, Node } from './visit.ts';

/** The title of a schema file is the schema's name, so that documents, types and code use the same name. */
export function schemaTitle() {
  return {
    Schema(schema: Node, ctx: Context) {
      const { source, pointer } = ctx.location;
      const name = basename(source.absoluteRef, '.yaml');
      if (pointer !== '#/' || schema.title === name) return;
      ctx.report({ message: `The title of this schema must be its name, ${name}.` });
    },
  };
}
