import { isSchema, type Json, property, resolveReference, type Schema } from './form-types.ts';

/** Path and method of an operation. */
interface Place {
  path: string;
  method: string;
}

/** The operation in the document. Undefined: the document lacks it. */
export function operationIn(document: object, { path, method }: Place): Schema | undefined {
  const found = ['paths', path, method].reduce<Json | undefined>(property, document as Json);
  return isSchema(found) ? found : undefined;
}

/**
 * Extracts the part of an OpenAPI document that describes the requests of one operation, with all referenced components.
 * The result is a copy.
 *
 * @throws Error where the document lacks the operation, or a component that it names
 */
export function requestDocument(bundle: object, place: Place): Schema {
  const root = bundle as Json;
  const { path, method } = place;
  const operation = operationIn(bundle, place);
  if (operation === undefined) throw new Error(`the bundle has no ${method} ${path}`);
  const item = property(property(root, 'paths'), path);
  const { responses: _, ...asked } = operation;
  const parameters = [...listOf(property(item, 'parameters')), ...listOf(asked.parameters)];
  const document: Schema = {
    openapi: property(root, 'openapi') ?? null,
    info: property(root, 'info') ?? null,
    paths: { [path]: { [method]: { ...asked, parameters } } },
    components: { schemas: {}, parameters: {} },
  };
  copyReferred(root, document);
  return structuredClone(document);
}

function listOf(node: Json | undefined): Json[] {
  return Array.isArray(node) ? node : [];
}

/** Copies every component that the document refers to, directly or through other components. */
function copyReferred(root: Json, document: Schema): void {
  const taken = new Set<string>();
  const visit = (node: Json): void => {
    if (typeof node !== 'object' || node === null) return;
    if (isSchema(node) && typeof node.$ref === 'string') take(node.$ref);
    Object.values(node).forEach(visit);
  };
  const take = (reference: string): void => {
    if (taken.has(reference)) return;
    taken.add(reference);
    const [, , kind = '', name = ''] = reference.split('/');
    const component = resolveReference(root, reference);
    const kept = property(document.components, kind);
    if (component === undefined || !isSchema(kept)) throw new Error(`the bundle has no ${reference}`);
    kept[name] = component;
    visit(component);
  };
  visit(property(document, 'paths') ?? null);
}
