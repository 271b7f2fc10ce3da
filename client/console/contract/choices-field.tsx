import { useEffect, useId } from 'preact/hooks';
import type { Schema } from './contract.ts';
import type { Form } from './form.ts';

interface ChoicesFieldProps {
  form: Form;
  /** Path of a field with allowed values, or of a list of them. */
  path: string;
  label: string;
}

/** One choice, or for a list several, of the allowed values. The contract describes each of them. */
export function ChoicesField({ form, path, label }: ChoicesFieldProps) {
  const id = useId();
  useEffect(() => form.show(path), [form, path]);
  const { items, ...schema } = form.schemaAt(path);
  const choices = items === undefined ? schema : form.contract.resolve(items);
  const value = form.get(path);
  const selected: readonly unknown[] = Array.isArray(value) ? value : [value];
  const problem = form.problem(path);
  const select = (choice: string, isSelected: boolean) => {
    if (items === undefined) return form.set(path, choice);
    const next = textsOf(choices).filter(([name]) =>
      name === choice ? isSelected : selected.includes(name),
    );
    form.set(path, next.length === 0 ? undefined : next.map(([name]) => name));
  };
  return (
    <fieldset class="choices" aria-describedby={`${id}-problem`}>
      <legend class="field-label">{label}</legend>
      {textsOf(choices).map(([choice, text]) => (
        <label key={choice} class="choice">
          <input
            type={items === undefined ? 'radio' : 'checkbox'}
            name={id}
            checked={selected.includes(choice)}
            aria-invalid={items !== undefined && problem !== undefined}
            onChange={(event) => select(choice, event.currentTarget.checked)}
          />
          <span>
            <strong>{choice}</strong>
            <span class="field-hint">{text}</span>
          </span>
        </label>
      ))}
      {problem && (
        <p class="field-error" id={`${id}-problem`} role="alert">
          {problem}
        </p>
      )}
    </fieldset>
  );
}

/** Returns the allowed values with their descriptions, which the contract writes as "`owner`: everything of the user." */
function textsOf({ enum: values = [], description = '' }: Schema): [value: string, text: string][] {
  const starts = values.map(String).map((value) => ({ value, start: description.indexOf(`\`${value}\`: `) }));
  return starts.map(({ value, start }) => {
    if (start < 0) return [value, ''];
    const text = description.slice(start + value.length + 4);
    const ends = starts.map((other) => text.indexOf(`\`${other.value}\`: `)).filter((end) => end >= 0);
    const own = text
      .slice(0, Math.min(text.length, ...ends))
      .replace(/[\s-]+$/, '')
      .replaceAll('`', '');
    return [value, own.charAt(0).toUpperCase() + own.slice(1)];
  });
}
