import { signal } from '@preact/signals';
import { type OperationId, operationTable } from '../../index.ts';
import { gatewayUrl } from '../session/session.ts';

/** A JSON Schema as the contract uses it. */
export interface Schema {
  $ref?: string;
  type?: string | readonly string[];
  title?: string;
  description?: string;
  enum?: readonly unknown[];
  const?: unknown;
  default?: unknown;
  examples?: readonly unknown[];
  minimum?: number;
  maximum?: number;
  minLength?: number;
  maxLength?: number;
  minItems?: number;
  maxItems?: number;
  pattern?: string;
  /** The rule of `pattern` in words, such as "must be an http or https URL". */
  'x-form'?: string;
  format?: string;
  properties?: Readonly<Record<string, Schema>>;
  required?: readonly string[];
  items?: Schema;
  allOf?: readonly Schema[];
  oneOf?: readonly Schema[];
  anyOf?: readonly Schema[];
  not?: Schema;
  /** Limits of a value that meets `if`. */
  then?: Schema;
  /** Limits that depend on the model: a pattern of model ids, and the limit in words. */
  'x-limit'?: readonly { models: string; limit: string }[];
}

interface Operation {
  operationId?: string;
  summary?: string;
  description?: string;
  requestBody?: { content: Readonly<Record<string, { schema: Schema }>> };
}

export interface ContractDocument {
  info: { version: string };
  paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
  components: { schemas: Readonly<Record<string, Schema>> };
}

/** The contract of this gateway, from which the forms are made. */
export class Contract {
  readonly document: ContractDocument;

  constructor(document: ContractDocument) {
    this.document = document;
  }

  operation(id: OperationId): Operation {
    const { path, method } = operationTable[id];
    const operation = this.document.paths[path]?.[method];
    if (operation === undefined) throw new Error(`The contract of this gateway has no operation ${id}.`);
    return operation;
  }

  /** Returns the schema of a JSON request body. */
  body(id: OperationId): Schema {
    return this.resolve(this.operation(id).requestBody?.content['application/json']?.schema ?? {});
  }

  /** Returns the schema of a named component. */
  component(name: string): Schema {
    return this.resolve({ $ref: `#/components/schemas/${name}` });
  }

  /** Follows references and merges `allOf`. Properties of later parts replace those of earlier ones. */
  resolve(schema: Schema): Schema {
    const { $ref, allOf = [], ...own } = schema;
    const parts = [...($ref === undefined ? [] : [this.#target($ref)]), ...allOf].map((part) =>
      this.resolve(part),
    );
    return [...parts, own].reduce<Schema>(merge, {});
  }

  /** Returns the schema at a path of property names. Undefined if the contract has no such property. */
  at(schema: Schema, path: readonly string[]): Schema | undefined {
    return path.reduce<Schema | undefined>((current, name) => {
      const next = current?.properties?.[name];
      return next && this.resolve(next);
    }, this.resolve(schema));
  }

  #target(reference: string): Schema {
    return this.document.components.schemas[reference.split('/').at(-1) ?? ''] ?? {};
  }
}

function merge(left: Schema, right: Schema): Schema {
  return {
    ...left,
    ...right,
    ...((left.properties ?? right.properties) && { properties: { ...left.properties, ...right.properties } }),
    ...((left.required ?? right.required) && {
      required: [...(left.required ?? []), ...(right.required ?? [])],
    }),
  };
}

/** The contract, once it is loaded. */
export const contract = signal<Contract | undefined>(undefined);
let loading: Promise<void> | undefined;

/** Loads the contract once. Throws when the gateway cannot be reached; the next call tries again. */
export function loadContract(): Promise<void> {
  loading ??= fetch(`${gatewayUrl}/openapi.json`)
    .then(async (response) => {
      if (!response.ok) throw new Error(`The contract could not be loaded: status ${response.status}.`);
      contract.value = new Contract((await response.json()) as ContractDocument);
    })
    .catch((error: unknown) => {
      loading = undefined;
      throw error;
    });
  return loading;
}

/** Returns the loaded contract. Pages exist only once it is loaded. */
export function useContract(): Contract {
  if (contract.value === undefined) throw new Error('The contract is not loaded.');
  return contract.value;
}
