import { createRequire } from 'node:module';

/** The part of Ajv's definition of `const` that determines its message. */
interface Definition {
  default: { error: { message: unknown } };
}

type Text = (parts: TemplateStringsArray, ...values: unknown[]) => unknown;

/** Adds the constant to the linter's message about an example that must equal one. The linter has no setting for it. */
export function nameConstants(): void {
  const require = createRequire(import.meta.resolve('@redocly/openapi-core'));
  const constant = require('@redocly/ajv/dist/vocabularies/validation/const.js') as Definition;
  const { str } = require('@redocly/ajv/dist/compile/codegen') as { str: Text };
  constant.default.error.message = ({ schema }: { schema: unknown }) =>
    str`must be equal to constant ${JSON.stringify(schema)}`;
}
