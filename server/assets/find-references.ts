import type { AssetType } from '../store/schema.ts';

/** Something of the caller's that a request's body refers to by a public id. */
export interface Reference {
  kind: 'asset' | 'draft';
  id: string;
  /** Name of the field, for messages. */
  field: string;
  /** What the field takes; undefined: any asset. */
  takes: AssetType | undefined;
}

type Fields = Readonly<Record<string, unknown>>;
type Resolve = (reference: Reference) => string;
type ResolveAt = (reference: Reference, path: readonly string[]) => string;

const scheme = /^\s*asset:\/\//i;

const mediaFields: ReadonlyMap<string, AssetType> = new Map([
  ['image_url', 'Image'],
  ['video_url', 'Video'],
  ['audio_url', 'Audio'],
]);

/**
 * `fields`: what the client calls each item of `content`. A copy of an upstream's body with what `resolve` gives in the place of every reference: of asset addresses,
 * wherever they stand but in a prompt, and of the ids of drafts.
 */
export function mapReferences(body: Fields, fields: readonly string[], resolve: Resolve): Fields {
  return mapFields(body, [], (reference, path) => {
    const [list, index] = path;
    const field = (list === 'content' && fields[Number(index)]) || reference.field;
    return resolve({ ...reference, field });
  });
}

/** `path`: the names and numbers of the fields around the value, the innermost last. */
function mapFields(fields: object, path: readonly string[], resolve: ResolveAt): Fields {
  return Object.fromEntries(
    Object.entries(fields).map(([name, value]) => [name, mapValue(value, [...path, name], resolve)]),
  );
}

function mapValue(value: unknown, path: readonly string[], resolve: ResolveAt): unknown {
  if (typeof value === 'string') {
    const reference = referenceIn(value, path);
    return reference === undefined ? value : resolve(reference, path);
  }
  if (Array.isArray(value))
    return value.map((item: unknown, index) => mapValue(item, [...path, String(index)], resolve));
  return typeof value === 'object' && value !== null ? mapFields(value, path, resolve) : value;
}

function referenceIn(text: string, path: readonly string[]): Reference | undefined {
  const name = path.at(-1) ?? '';
  if (name === 'id' && path.at(-2) === 'draft_task') {
    return { kind: 'draft', id: text, field: 'draft_task.id', takes: undefined };
  }
  if (name === 'text' || !scheme.test(text)) return undefined;
  const field = path.findLast((one) => mediaFields.has(one)) ?? name;
  return { kind: 'asset', id: text.replace(scheme, '').trim(), field, takes: mediaFields.get(field) };
}
