import type { Contract } from '../contract/contract.ts';
import { Form, type JsonObject } from '../contract/form.ts';

/** Kind of the input. The kinds exclude each other. */
export const inputs = ['Text', 'Image', 'Views'] as const;
export type Input = (typeof inputs)[number];

/** Views in the order of the contract. */
export const views = ['front', 'left', 'back', 'right'] as const;

/** Returns the form of a 3D request. Each view has a field of its own, because the views of a request are a list. */
export function formOf(contract: Contract, model: string): Form {
  const body = contract.body('createModel3d');
  const view = contract.at(contract.component('Model3dView'), ['file_token']) ?? {};
  const properties = { ...body.properties, ...Object.fromEntries(views.map((name) => [name, view])) };
  const schema = { ...body, properties, required: [...(body.required ?? []), 'front'] };
  return new Form(contract, schema, { model, input: { prompt: 'A wooden rocking horse.' } });
}

/** Returns the request body with the input of one kind. */
export function bodyOf({ model, input, parameters, ...fields }: JsonObject, kind: Input): JsonObject {
  const { prompt, image } = (input ?? {}) as JsonObject;
  const images = views.map((name) => viewOf(fields[name]));
  const chosen = { Text: { prompt }, Image: { image }, Views: { images } }[kind];
  const { texture } = (parameters ?? {}) as JsonObject;
  // An object without texture has no materials either.
  const options = texture === false ? { ...(parameters as JsonObject), pbr: false } : parameters;
  return { model, input: chosen, ...(options !== undefined && { parameters: options }) };
}

function viewOf(url: unknown): JsonObject {
  if (typeof url !== 'string') return {};
  return { type: /\.png(?:[?#]|$)/i.test(url) ? 'png' : 'jpeg', file_token: url };
}
