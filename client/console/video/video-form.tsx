import type { Signal } from '@preact/signals';
import { useId } from 'preact/hooks';
import type { Model } from '../../index.ts';
import { CallForm } from '../calls/call-form.tsx';
import type { Run } from '../calls/run.ts';
import { Field } from '../contract/field.tsx';
import type { Form } from '../contract/form.ts';
import { choicesOf, hasChoice, isSupported } from './draft.ts';
import { formats, type VideoFormat } from './formats.ts';
import type { Medium } from './media.ts';
import { References } from './references.tsx';

interface VideoFormProps {
  models: readonly Model[];
  format: VideoFormat;
  form: Form;
  protocol: string;
  media: Signal<readonly Medium[]>;
  /** Error of the media. */
  mediaProblem: string | undefined;
  run: Run<unknown>;
  onChange: (format: VideoFormat, model: string) => void;
  onSubmit: () => Promise<void>;
}

/** The form of one format. Fields that the model does not support are not shown. */
export function VideoForm({ models, format, form, protocol, media, ...props }: VideoFormProps) {
  const { mediaProblem, run, onChange, onSubmit } = props;
  const { paths, morePaths } = format;
  const id = useId();
  const offered = models.filter(({ protocols }) => protocols.some((name) => format.protocols.includes(name)));
  const more = [paths.seed, ...morePaths].filter((path) => isSupported(form, path) && hasChoice(form, path));
  const model = String(form.get('model'));
  return (
    <CallForm hasTask run={run} label="Create video" onSubmit={onSubmit}>
      <div class="field">
        <label class="field-label" for={`${id}-format`}>
          Format
        </label>
        <select
          id={`${id}-format`}
          class="input"
          value={format.operation}
          onChange={({ currentTarget: { value } }) => {
            const next = formats.find(({ operation }) => operation === value);
            if (next !== undefined) onChange(next, model);
          }}
        >
          {formats.map(({ operation, title, protocols }) => (
            <option
              key={operation}
              value={operation}
              disabled={!models.some((other) => other.protocols.some((name) => protocols.includes(name)))}
            >
              {title}
            </option>
          ))}
        </select>
      </div>
      <div class="field">
        <label class="field-label" for={`${id}-model`}>
          Model
        </label>
        <select
          id={`${id}-model`}
          class="input"
          value={model}
          onChange={(event) => onChange(format, event.currentTarget.value)}
        >
          {offered.map(({ id: value }) => (
            <option key={value} value={value}>
              {value}
            </option>
          ))}
        </select>
      </div>
      <Field form={form} path={paths.prompt} label="Prompt" rows={4} hint="" />
      <References media={media} protocol={protocol} problem={mediaProblem} />
      <div class="field-columns">
        <Field
          form={form}
          path={paths.resolution}
          label="Resolution"
          options={choicesOf(form, paths.resolution) ?? []}
          hint=""
        />
        <Field form={form} path={paths.ratio} label="Ratio" hint="" />
        <Field form={form} path={paths.seconds} label="Seconds" hint="" model={model} />
      </div>
      {isSupported(form, paths.audio) && <Field form={form} path={paths.audio} label="With audio" hint="" />}
      {more.length > 0 && (
        <details>
          <summary>More options</summary>
          <div class="fields">
            {more.map((path) => (
              <Field key={path} form={form} path={path} label={labelOf(path)} model={model} />
            ))}
          </div>
        </details>
      )}
    </CallForm>
  );
}

/** Returns the name of a field as words: `metadata.return_last_frame` -> `Return last frame`. */
function labelOf(path: string): string {
  const words = (path.split('.').at(-1) ?? '').replaceAll('_', ' ').replace(' url', ' URL');
  return words.charAt(0).toUpperCase() + words.slice(1);
}
