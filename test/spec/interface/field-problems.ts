import type { JsonObject } from '../../../openapi/tools/document.ts';
import { bundle } from '../../conformance/contract/documented.ts';
import { fieldAt } from '../../conformance/contract/schema-fields.ts';
import type { Fields } from './fields.ts';

/** Fields that a schema does not have, or has with another type. */
export function fieldProblems(roots: readonly JsonObject[], fields: Fields, document = bundle): string[] {
  return Object.entries(fields).flatMap(([marked, type]) => {
    const path = marked.replace('!', '');
    const found = fieldAt(document, roots, path);
    if (found.schemas.length === 0) return [`${path} is missing`];
    if (type !== 'any' && !found.types.includes(type))
      return [`${path} is ${found.types.join(' or ')}, not ${type}`];
    return marked.endsWith('!') && !found.required ? [`${path} is not required`] : [];
  });
}
