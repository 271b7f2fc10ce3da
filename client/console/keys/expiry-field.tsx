import { useSignal } from '@preact/signals';
import { useEffect, useId } from 'preact/hooks';
import type { Form } from '../contract/form.ts';

const path = 'expired_time';
const daySeconds = 86_400;
const periods = [1, 7, 30, 90, 365];

/** The expiry of a key: a period from now, a time in the reader's zone, or never. `emptyLabel` names the default. */
export function ExpiryField({ form, emptyLabel }: { form: Form; emptyLabel: string }) {
  const id = useId();
  const value = form.get(path);
  const choice = useSignal(value === undefined ? '' : value === -1 ? 'never' : 'time');
  useEffect(() => form.show(path), [form]);
  const problem = form.problem(path);
  const select = (name: string) => {
    choice.value = name;
    const days = Number(name);
    const now = Math.floor(Date.now() / 1_000);
    if (name === '') form.set(path, undefined);
    else if (name === 'never') form.set(path, -1);
    else form.set(path, now + (name === 'time' ? 30 : days) * daySeconds);
  };
  return (
    <div class="field">
      <label class="field-label" for={id}>
        Expiry
      </label>
      <select
        id={id}
        class="input"
        value={choice.value}
        aria-describedby={`${id}-problem`}
        onChange={(event) => select(event.currentTarget.value)}
      >
        <option value="">{emptyLabel}</option>
        <option value="never">Never</option>
        {periods.map((days) => (
          <option key={days} value={String(days)}>
            In {days} {days === 1 ? 'day' : 'days'}
          </option>
        ))}
        <option value="time">At a time</option>
      </select>
      {choice.value === 'time' && typeof value === 'number' && (
        <input
          class="input"
          type="datetime-local"
          aria-label="Time of expiry"
          value={localTime(value)}
          onChange={(event) => {
            const ms = new Date(event.currentTarget.value).getTime();
            if (!Number.isNaN(ms)) form.set(path, Math.floor(ms / 1_000));
          }}
        />
      )}
      {problem && (
        <p class="field-error" id={`${id}-problem`} role="alert">
          {problem}
        </p>
      )}
    </div>
  );
}

/** Formats Unix seconds for an input of type `datetime-local`. */
function localTime(seconds: number): string {
  const date = new Date(seconds * 1_000);
  const offsetMs = date.getTimezoneOffset() * 60_000;
  return new Date(date.getTime() - offsetMs).toISOString().slice(0, 16);
}
