import {
  deref,
  isObject,
  type Json,
  type JsonObject,
  type Operation,
  objects,
  operationsOf,
  text,
} from '../../../openapi/tools/document.ts';
import { readDocument } from './read-document.ts';

/** The OpenAPI bundle. */
export const bundle = readDocument('openapi');

export interface Example {
  name: string;
  value: Json;
}

/** A schema and its place in the bundle. */
export interface Located {
  /** JSON pointer into the bundle, as a URI fragment. */
  pointer: string;
  schema: JsonObject;
}

export interface Parameter extends Located {
  name: string;
  in: 'path' | 'query' | 'header';
  required: boolean;
  examples: Json[];
  /** Whether the value of a path parameter may contain slashes. */
  multiSegment: boolean;
}

export interface Media extends Located {
  mediaType: string;
  examples: Example[];
}

export interface DocumentedHeader extends Located {
  name: string;
  required: boolean;
}

interface DocumentedResponse {
  status: number;
  headers: DocumentedHeader[];
  /** Empty when the response has no body. */
  content: Media[];
}

/** A request to an address that the client names in the body of an operation. */
export interface DocumentedCallback {
  /** Path of the address in the body. */
  field: readonly string[];
  /** In lower case. */
  method: string;
  parameters: Parameter[];
  requests: Media[];
}

/** An operation of the contract with all references resolved. */
export interface DocumentedOperation {
  id: string;
  /** In lower case. */
  method: string;
  /** Path template with `{name}` parameters. */
  path: string;
  /** The operation that this one repeats under another path. */
  aliasOf: string | undefined;
  /** Headers with a credential in place of an API key. */
  credentialHeaders: string[];
  parameters: Parameter[];
  /** Empty when the operation takes no body. */
  requests: Media[];
  responses: DocumentedResponse[];
  callbacks: DocumentedCallback[];
}

/** Every operation of the bundle by its id, including aliases. */
export const documentedOperations: ReadonlyMap<string, DocumentedOperation> = new Map(
  operationsOf(bundle).map((operation) => [operation.id, describe(operation)]),
);

/**
 * Returns a path below that of an operation that matches no operation. Undefined if the last parameter of an operation
 * matches every path below, because it may contain slashes.
 */
export function pathBelow({ path }: Pick<DocumentedOperation, 'path'>): string | undefined {
  const below = `${path.replace(/\/$/, '')}/none/none`;
  const isTaken = [...documentedOperations.values()].some(
    (one) =>
      one.parameters.some(({ multiSegment }) => multiSegment) &&
      below.startsWith(one.path.slice(0, one.path.lastIndexOf('{'))),
  );
  return isTaken ? undefined : below;
}

export function documented(id: string): DocumentedOperation {
  const operation = documentedOperations.get(id);
  if (operation === undefined) throw new Error(`the contract has no operation ${id}`);
  return operation;
}

function describe({ id, method, path, node, aliasOf }: Operation): DocumentedOperation {
  const item = follow(`#/paths/${escape(path)}`);
  const at = `${item.pointer}/${method}`;
  const shared = listed(item.pointer, item.node.parameters);
  const own = listed(at, node.parameters);
  return {
    id,
    method,
    path,
    aliasOf,
    credentialHeaders: credentialHeaders(node),
    parameters: [...shared, ...own].map(parameter),
    requests: node.requestBody === undefined ? [] : contentAt(`${at}/requestBody`),
    responses: objects(node.responses).map(([status]) =>
      response(Number(status), `${at}/responses/${status}`),
    ),
    callbacks: objects(node.callbacks).flatMap(([name, callback]) =>
      Object.keys(callback).flatMap((expression) =>
        callbackAt(`${at}/callbacks/${escape(name)}/${escape(expression)}`, expression),
      ),
    ),
  };
}

/** Returns the headers of an operation whose security requirement has no API key as a bearer token. */
function credentialHeaders({ security }: JsonObject): string[] {
  const requirements = (Array.isArray(security) ? security : []).filter(isObject);
  const schemes = requirements
    .flatMap((requirement) => Object.keys(requirement))
    .map((name) => follow(`#/components/securitySchemes/${escape(name)}`).node);
  if (schemes.some(({ type }) => type === 'http')) return [];
  return schemes.filter((scheme) => scheme.in === 'header').map(({ name }) => text(name));
}

/** Returns the requests of a callback whose address is a field of the request body. */
function callbackAt(pointer: string, expression: string): DocumentedCallback[] {
  const [, field] = /^\{\$request\.body#\/(.+)\}$/.exec(expression) ?? [];
  if (field === undefined) return [];
  const item = follow(pointer);
  return objects(item.node).map(([method, node]) => ({
    field: field.split('/'),
    method,
    parameters: listed(`${item.pointer}/${method}`, node.parameters).map(parameter),
    requests: node.requestBody === undefined ? [] : contentAt(`${item.pointer}/${method}/requestBody`),
  }));
}

function listed(pointer: string, parameters: Json | undefined): string[] {
  return Array.isArray(parameters) ? parameters.map((_, index) => `${pointer}/parameters/${index}`) : [];
}

function parameter(pointer: string): Parameter {
  const { node, pointer: at } = follow(pointer);
  const { schema, ...where } = schemaAt(`${at}/schema`);
  const named = objects(node.examples).map(([, { value }]) => value);
  const values = [node.example, ...named, ...(Array.isArray(schema.examples) ? schema.examples : [])];
  return {
    ...where,
    schema,
    name: text(node.name),
    in: text(node.in) as Parameter['in'],
    required: node.required === true,
    examples: values.filter((value) => value !== undefined),
    multiSegment: node['x-multi-segment'] === true,
  };
}

function response(status: number, pointer: string): DocumentedResponse {
  const { node, pointer: at } = follow(pointer);
  return {
    status,
    headers: objects(node.headers).map(([name]) => {
      const header = follow(`${at}/headers/${escape(name)}`);
      return { name, required: header.node.required === true, ...schemaAt(`${header.pointer}/schema`) };
    }),
    content: contentAt(at),
  };
}

function contentAt(pointer: string): Media[] {
  const { node, pointer: at } = follow(pointer);
  return objects(node.content).map(([mediaType, media]) => ({
    mediaType,
    examples: objects(media.examples).map(([name, example]) => ({
      name,
      value: deref(bundle, example).value ?? null,
    })),
    ...schemaAt(`${at}/content/${escape(mediaType)}/schema`),
  }));
}

/** Keeps the pointer to the place of use, so that keywords beside a `$ref` apply too. */
function schemaAt(pointer: string): Located {
  return { pointer, schema: follow(pointer).node };
}

/** Resolves the references at a pointer. Returns the node and its pointer. */
function follow(pointer: string): { pointer: string; node: JsonObject } {
  const node = raw(pointer);
  return typeof node.$ref === 'string' ? follow(node.$ref) : { pointer, node };
}

function raw(pointer: string): JsonObject {
  let node: Json | undefined = bundle;
  for (const part of pointer.slice(2).split('/')) {
    node = isObject(node) || Array.isArray(node) ? (node as JsonObject)[unescape(part)] : undefined;
  }
  return isObject(node) ? node : {};
}

function escape(name: string): string {
  return encodeURIComponent(name.replaceAll('~', '~0').replaceAll('/', '~1'));
}

function unescape(part: string): string {
  return decodeURIComponent(part).replaceAll('~1', '/').replaceAll('~0', '~');
}
