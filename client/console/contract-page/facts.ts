import type { Contract, Schema } from '../contract/contract.ts';

/** An operation of the contract, for lists. */
export interface OperationRow {
  id: string;
  area: string;
  method: string;
  path: string;
  summary: string;
  /** Documented statuses, in order. */
  statuses: readonly string[];
  /** Whether the operation is an addition to the interface. */
  isExtension: boolean;
  /** Number of documented examples of requests and responses. */
  examples: number;
}

interface DocumentedOperation {
  operationId?: string;
  tags?: readonly string[];
  summary?: string;
  responses?: Readonly<Record<string, Media>>;
  requestBody?: Media;
  'x-extension'?: boolean;
}

interface Media {
  content?: Readonly<Record<string, { examples?: object; schema?: Schema }>>;
}

const methods = ['get', 'put', 'post', 'patch', 'delete'];

/** Lists the operations in the order of the document. */
export function operationRows({ document }: Contract): OperationRow[] {
  return Object.entries(document.paths).flatMap(([path, item]) =>
    methods.flatMap((method) => {
      const operation = item[method] as DocumentedOperation | undefined;
      if (operation?.operationId === undefined) return [];
      const { operationId: id, tags, summary = '', responses = {}, requestBody } = operation;
      const bodies = [...Object.values(responses), ...(requestBody === undefined ? [] : [requestBody])];
      return [
        {
          id,
          area: tags?.[0] ?? '',
          method: method.toUpperCase(),
          path,
          summary,
          statuses: Object.keys(responses),
          isExtension: operation['x-extension'] === true,
          examples: bodies
            .flatMap(({ content = {} }) => Object.values(content))
            .reduce((sum, { examples = {} }) => sum + Object.keys(examples).length, 0),
        },
      ];
    }),
  );
}

/** A choice of the contract where the interface is silent. */
export interface Decision {
  /** Place in the document: names joined by dots. */
  place: string;
  text: string;
}

/** Lists the decisions (`x-decision`) of the document. A decision that several places share is listed once. */
export function decisionsOf({ document }: Contract): Decision[] {
  const found = new Map<string, Decision>();
  const visit = (value: unknown, path: readonly string[]): void => {
    if (typeof value !== 'object' || value === null) return;
    for (const [name, part] of Object.entries(value)) {
      if (name !== 'x-decision') visit(part, [...path, name]);
      else if (typeof part === 'string' && !found.has(part))
        found.set(part, { place: placeOf(path), text: part });
    }
  };
  visit(document, []);
  return [...found.values()];
}

/** Keywords of the document, which are the same at every place. */
const kinds = new Set([
  'components',
  'paths',
  'properties',
  'schemas',
  'responses',
  'content',
  'schema',
  'items',
]);

const placeOf = (path: readonly string[]) => path.filter((name) => !kinds.has(name)).join(' · ');
