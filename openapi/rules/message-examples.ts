import { readFileSync } from 'node:fs';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { Ajv2020, type AnySchemaObject, type ValidateFunction } from 'ajv/dist/2020.js';
import formats from 'ajv-formats';
import { parse } from 'yaml';
import { ajvMessage } from '../tools/ajv-message.ts';
import { type Context, isNode, type Location, type Node, text } from './visit.ts';

/** Each example of a message matches the schemas of its payload and headers. A mismatch is reported at its value. */
export function messageExamples() {
  const ajv = new Ajv2020({ strict: false, allErrors: true });
  formats.default(ajv);
  const check = (schema: AnySchemaObject, value: unknown, at: Location, ctx: Context) => {
    let validate: ValidateFunction;
    try {
      validate = compiled(ajv, schema);
    } catch (error) {
      // no-unresolved-refs reports a reference to a missing file, with its location.
      if ((error as NodeJS.ErrnoException).code === 'ENOENT') return;
      return ctx.report({
        message: `The schema of the example cannot be used: ${(error as Error).message}.`,
        location: at,
      });
    }
    if (validate(value)) return;
    for (const error of validate.errors ?? []) {
      const { instancePath } = error;
      const message = ajvMessage(error);
      const location = instancePath === '' ? at : at.child(instancePath.split('/').slice(1));
      ctx.report({ message: `The example${instancePath && ` at ${instancePath}`} ${message}.`, location });
    }
  };
  return {
    Message(message: Node, ctx: Context) {
      const { source } = ctx.location;
      const { node: examples, location = ctx.location.child('examples') } = isReference(message.examples)
        ? ctx.resolve(message.examples)
        : { node: message.examples };
      if (!Array.isArray(examples)) return;
      for (const [index, example] of examples.entries()) {
        if (!isNode(example)) continue;
        for (const part of ['payload', 'headers']) {
          const schema = message[part];
          if (!isNode(schema) || example[part] === undefined) continue;
          const absolute = isReference(schema)
            ? { $ref: new URL(text(schema.$ref), pathToFileURL(source.absoluteRef)).href }
            : schema;
          check(absolute, example[part], location.child([index, part]), ctx);
        }
      }
    },
  };
}

const isReference = (value: unknown): value is Node => isNode(value) && typeof value.$ref === 'string';

/** Compiles a schema and loads the files that it references. */
function compiled(ajv: Ajv2020, schema: AnySchemaObject): ValidateFunction {
  try {
    return ajv.compile(schema);
  } catch (error) {
    if (!(error instanceof Ajv2020.MissingRefError) || ajv.getSchema(error.missingSchema)) throw error;
    const file = readFileSync(fileURLToPath(error.missingSchema), 'utf8');
    ajv.addSchema(parse(file) as AnySchemaObject, error.missingSchema);
    return compiled(ajv, schema);
  }
}
