import type { ComponentChildren } from 'preact';
import { useEffect, useId } from 'preact/hooks';
import type { Schema } from './contract.ts';
import type { Form } from './form.ts';
import { limitOf } from './problem.ts';

interface FieldProps {
  form: Form;
  /** Path of the field in the body, such as `metadata.parameters.seed`. */
  path: string;
  label: string;
  /** Replaces the description of the contract. */
  hint?: string;
  placeholder?: string;
  /** Model whose limit applies. */
  model?: string | undefined;
  /** Replaces the allowed values of the contract, for example by the voices of a model. */
  options?: readonly Option[];
  /** Height of a text. 1 stands for a single line. */
  rows?: number;
}

export interface Option {
  value: string;
  label?: string;
}

/** Texts that may be longer than this have a text area. Addresses have one line. */
const maxLineLength = 300;

/** A field of a form. Kind, limits, allowed values, default and description follow from the contract. */
export function Field({ form, path, label, hint, placeholder, model, options, rows }: FieldProps) {
  const id = useId();
  useEffect(() => form.show(path), [form, path]);
  const schema = variantOf(form, form.schemaAt(path));
  const value = form.get(path);
  const problem = form.problem(path);
  useEffect(() => {
    // Closed options would hide the problem, also when the form is submitted again.
    const options = problem === undefined ? null : document.getElementById(id)?.closest('details');
    if (options) options.open = true;
  }, [problem, form.checks.value]);
  const description = hint ?? schema.description;
  const shared = {
    id,
    class: 'input',
    'aria-invalid': problem !== undefined,
    'aria-describedby': `${id}-hint ${id}-problem`,
    'aria-required': form.isRequired(path),
    onBlur: () => form.check(path),
  };
  const set = (text: string) => form.set(path, text);
  let control: ComponentChildren;
  const choices: readonly Option[] | undefined =
    options ?? schema.enum?.map((choice) => ({ value: textOf(choice) }));
  if (choices !== undefined) {
    control = (
      <select
        {...shared}
        value={textOf(value)}
        onChange={({ currentTarget: { value: text } }) =>
          form.set(path, schema.enum?.find((choice) => textOf(choice) === text) ?? text)
        }
      >
        {!form.isRequired(path) && <option value="">{defaultLabel(schema)}</option>}
        {choices.map((choice) => (
          <option key={choice.value} value={choice.value}>
            {choice.label ?? choice.value}
          </option>
        ))}
      </select>
    );
  } else if (schema.type === 'boolean') {
    const isChecked = value ?? schema.default ?? false;
    return (
      <div class="field">
        <label class="check">
          <input
            type="checkbox"
            checked={isChecked === true}
            aria-describedby={`${id}-hint`}
            onChange={(event) => form.set(path, event.currentTarget.checked)}
          />
          {label}
        </label>
        <Hint id={id} text={description} />
      </div>
    );
  } else if (schema.type === 'number' || schema.type === 'integer') {
    control = (
      <input
        {...shared}
        type="number"
        step={schema.type === 'integer' ? 1 : 'any'}
        min={schema.minimum}
        max={schema.maximum}
        placeholder={placeholder ?? defaultText(schema)}
        value={typeof value === 'number' ? value : ''}
        onInput={(event) => {
          const { value: text, valueAsNumber } = event.currentTarget;
          form.set(path, text === '' ? undefined : valueAsNumber);
        }}
      />
    );
  } else if (
    rows === undefined ? schema.format !== 'uri' && (schema.maxLength ?? 0) > maxLineLength : rows > 1
  ) {
    control = (
      <textarea
        {...shared}
        rows={rows ?? 4}
        placeholder={placeholder ?? defaultText(schema)}
        value={textOf(value)}
        onInput={(event) => set(event.currentTarget.value)}
      />
    );
  } else {
    control = (
      <input
        {...shared}
        type="text"
        placeholder={placeholder ?? defaultText(schema)}
        value={textOf(value)}
        onInput={(event) => set(event.currentTarget.value)}
      />
    );
  }
  const limit = choices === undefined ? limitOf(schema, model) : undefined;
  return (
    <div class="field">
      <label class="field-label" for={id}>
        {label}
        {limit && <span class="field-limit">{limit}</span>}
      </label>
      {control}
      {problem ? (
        <p class="field-error" id={`${id}-problem`} role="alert">
          {problem}
        </p>
      ) : (
        <Hint id={id} text={description} />
      )}
    </div>
  );
}

function Hint({ id, text }: { id: string; text: string | undefined }) {
  if (!text) return null;
  return (
    <p class="field-hint" id={`${id}-hint`}>
      {text.replaceAll('`', '')}
    </p>
  );
}

/** Several kinds of a value are offered as the first one. Null is an empty field. */
function variantOf(form: Form, schema: Schema): Schema {
  if (typeof schema.type === 'object')
    return { ...schema, type: schema.type.find((type) => type !== 'null') ?? 'string' };
  const [first] = schema.anyOf ?? schema.oneOf ?? [];
  return first === undefined || schema.type !== undefined
    ? schema
    : { ...form.contract.resolve(first), ...schema };
}

const defaultText = ({ default: value, examples }: Schema) =>
  value === undefined ? (typeof examples?.[0] === 'string' ? examples[0] : undefined) : textOf(value);

const defaultLabel = ({ default: value }: Schema) =>
  value === undefined ? 'Default' : `Default (${textOf(value)})`;

/** Returns a value as the text of a control. */
function textOf(value: unknown): string {
  if (value === undefined) return '';
  return typeof value === 'string' ? value : JSON.stringify(value);
}
