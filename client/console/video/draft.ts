import type { Contract, Schema } from '../contract/contract.ts';
import { bodyForModel } from '../contract/for-model.ts';
import { Form } from '../contract/form.ts';
import type { CommonField, VideoFormat } from './formats.ts';

type Values = Partial<Record<CommonField, unknown>>;

const firstValues: Values = {
  prompt: 'A paper boat sails down a rainy street, close to the water, at dusk.',
  resolution: '720P',
  ratio: '16:9',
  seconds: '5',
};

/** Returns the form of a format with the limits of a model. Keeps the common values of the form before it. */
export function formOf(
  contract: Contract,
  format: VideoFormat,
  model: string,
  before?: { form: Form; format: VideoFormat },
): Form {
  const body = bodyForModel(contract, format.operation, model);
  // The prompt of the official format is an item of `content`, so the form has a field of its own for it.
  const prompt = contract.at(contract.component('OfficialTextItem'), ['text']) ?? {};
  const form = new Form(contract, { ...body, properties: { prompt, ...body.properties } }, { model });
  for (const [name, path] of pathsOf(format)) {
    const value = before === undefined ? firstValues[name] : before.form.get(before.format.paths[name]);
    if (isSupported(form, path)) form.set(path, fit(choicesSchema(form, path), value));
  }
  return form;
}

const pathsOf = ({ paths }: VideoFormat) => Object.entries(paths) as [CommonField, string][];

/** Returns whether the model supports a field: neither the field nor an object around it is excluded. */
export function isSupported(form: Form, path: string): boolean {
  const names = path.split('.');
  return names.every((_, index) => {
    const schema = form.contract.at(form.schema, names.slice(0, index + 1));
    return schema !== undefined && schema.not === undefined;
  });
}

/** Returns whether a field offers a choice. */
export const hasChoice = (form: Form, path: string): boolean =>
  (form.contract.at(form.schema, path.split('.'))?.enum?.length ?? 2) > 1;

/** The field `size` accepts a text. Its usual values are those of `resolution`. */
function choicesSchema(form: Form, path: string): Schema {
  return form.schemaAt(path === 'size' ? 'resolution' : path);
}

/** Returns the allowed values of a field, each in one spelling. Undefined if the field has no list of values. */
export function choicesOf(form: Form, path: string): { value: string }[] | undefined {
  const values = choicesSchema(form, path).enum?.map(String);
  const isRepeated = (value: string, index: number) =>
    values?.findIndex((other) => other.toLowerCase() === value.toLowerCase()) !== index;
  return values?.filter((value, index) => !isRepeated(value, index)).map((value) => ({ value }));
}

/** Converts a value to the type and the spelling of another field. Undefined if the field does not allow it. */
function fit({ enum: choices, type }: Schema, value: unknown): unknown {
  if (typeof value !== 'string' && typeof value !== 'number') return value;
  const text = `${value}`;
  if (choices !== undefined) {
    const spelling = text.toLowerCase();
    return choices.find((choice) => typeof choice === 'string' && choice.toLowerCase() === spelling);
  }
  return type === 'integer' ? Number(value) : text;
}
