import { adminArea } from './admin-area.ts';
import { bodyLimit } from './body-limit.ts';
import { decisionNamesProtocol } from './decision-names-protocol.ts';
import { decisionWhereOpen } from './decision-where-open.ts';
import { errorCode } from './error-code.ts';
import { errorFamily } from './error-family.ts';
import { eventsNamed } from './events-named.ts';
import { expandPrefixes } from './expand-prefixes.ts';
import { fieldDescribed } from './field-described.ts';
import { limitForm } from './limit-form.ts';
import { messageDescribed } from './message-described.ts';
import { messageExamples } from './message-examples.ts';
import { noBooleanSchema } from './no-boolean-schema.ts';
import { noOrphanFile } from './no-orphan-file.ts';
import { operationHasExamples } from './operation-has-examples.ts';
import { operationIdForm } from './operation-id-form.ts';
import { replySuffix } from './reply-suffix.ts';
import { requestBounded } from './request-bounded.ts';
import { requestIdHeader } from './request-id-header.ts';
import { schemaTitle } from './schema-title.ts';
import { schemaTyped } from './schema-typed.ts';
import { standardErrors } from './standard-errors.ts';
import { describeSunset, sunsetForm } from './sunset.ts';

/** Redocly plugin with the lint rules of this project. */
export default function unigatePlugin() {
  return {
    id: 'unigate',
    rules: {
      oas3: {
        'admin-area': adminArea,
        'operation-id-form': operationIdForm,
        'operation-has-examples': operationHasExamples,
        'error-family': errorFamily,
        'error-code': errorCode,
        'decision-where-open': decisionWhereOpen('gateway'),
        'field-described': fieldDescribed,
        'no-boolean-schema': noBooleanSchema,
        'limit-form': limitForm,
        'decision-names-protocol': decisionNamesProtocol,
        'no-orphan-file': noOrphanFile,
        'schema-title': schemaTitle,
        'schema-typed': schemaTyped,
        'request-bounded': requestBounded,
        'body-limit': bodyLimit,
        'events-named': eventsNamed,
        'reply-suffix': replySuffix,
        'request-id-header': requestIdHeader,
        'standard-errors': standardErrors,
        'sunset-form': sunsetForm,
      },
      async3: {
        'message-described': messageDescribed,
        'message-examples': messageExamples,
        'decision-where-open': decisionWhereOpen('events'),
        'field-described': fieldDescribed,
        'no-boolean-schema': noBooleanSchema,
        'decision-names-protocol': decisionNamesProtocol,
        'no-orphan-file': noOrphanFile,
        'schema-title': schemaTitle,
        'schema-typed': schemaTyped,
        'sunset-form': sunsetForm,
      },
    },
    decorators: {
      oas3: { 'expand-prefixes': expandPrefixes, 'describe-sunset': describeSunset },
      async3: { 'describe-sunset': describeSunset },
    },
  };
}
