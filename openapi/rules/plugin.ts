import { bodyLimit } from './body-limit.ts';
import { decisionWhereOpen } from './decision-where-open.ts';
import { errorFamily } from './error-family.ts';
import { expandPrefixes } from './expand-prefixes.ts';
import { fieldDescribed } from './field-described.ts';
import { noBooleanSchema } from './no-boolean-schema.ts';
import { operationHasExamples } from './operation-has-examples.ts';
import { operationIdForm } from './operation-id-form.ts';
import { replySuffix } from './reply-suffix.ts';
import { requestBounded } from './request-bounded.ts';
import { schemaTitle } from './schema-title.ts';
import { schemaTyped } from './schema-typed.ts';

/** The house rules, as a Redocly plugin. */
export default function housePlugin() {
  return {
    id: 'house',
    rules: {
      oas3: {
        'operation-id-form': operationIdForm,
        'operation-has-examples': operationHasExamples,
        'error-family': errorFamily,
        'decision-where-open': decisionWhereOpen('gateway'),
        'field-described': fieldDescribed,
        'no-boolean-schema': noBooleanSchema,
        'schema-title': schemaTitle,
        'schema-typed': schemaTyped,
        'request-bounded': requestBounded,
        'body-limit': bodyLimit,
        'reply-suffix': replySuffix,
      },
      async3: {
        'decision-where-open': decisionWhereOpen('events'),
        'field-described': fieldDescribed,
        'no-boolean-schema': noBooleanSchema,
        'schema-title': schemaTitle,
        'schema-typed': schemaTyped,
      },
    },
    decorators: { oas3: { 'expand-prefixes': expandPrefixes } },
  };
}
