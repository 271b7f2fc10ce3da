import { useEffect, useRef } from 'preact/hooks';
import { CallForm } from '../calls/call-form.tsx';
import type { Run } from '../calls/run.ts';
import { Field } from '../contract/field.tsx';
import type { Form } from '../contract/form.ts';
import { Tabs } from '../parts/tabs.tsx';
import { type Mode, modes } from './draft.ts';
import { LyricsWriter } from './lyrics-writer.tsx';

interface SongFormProps {
  form: Form;
  mode: Mode;
  run: Run<unknown>;
  onMode: (mode: Mode) => void;
  onSubmit: () => Promise<void>;
}

const sliders = 'metadata.control_sliders';

/** The description of a song. */
export function SongForm({ form, mode, run, onMode, onSubmit }: SongFormProps) {
  return (
    <CallForm run={run} label="Create songs" hasTask onSubmit={onSubmit}>
      <Tabs label="Mode" names={modes} selected={mode} onSelect={(name) => onMode(name as Mode)}>
        <div class="fields song-mode">
          {mode === 'Description' ? (
            <Field
              form={form}
              path="gpt_description_prompt"
              label="Description"
              hint="The model writes lyrics and music."
              rows={4}
            />
          ) : (
            <LyricsFields form={form} />
          )}
          <Instrumental form={form} />
        </div>
      </Tabs>
      <Continuation form={form} />
      <details>
        <summary>More options</summary>
        <div class="fields">
          {mode === 'Lyrics' && (
            <>
              <Field form={form} path="negative_tags" label="Excluded styles" hint="" rows={1} />
              <Field form={form} path={`${sliders}.style_weight`} label="Style weight" hint="" />
              <Field form={form} path={`${sliders}.weirdness_constraint`} label="Unusualness" hint="" />
              <Field form={form} path={`${sliders}.audio_weight`} label="Weight of the input audio" hint="" />
            </>
          )}
          <Field
            form={form}
            path="task"
            label="Task"
            hint="Another task of the provider, such as extend or cover."
            placeholder="extend"
          />
          <Field form={form} path="callback_url" label="Callback URL" />
        </div>
      </details>
    </CallForm>
  );
}

function LyricsFields({ form }: { form: Form }) {
  return (
    <>
      <LyricsWriter
        onWritten={(lyrics) => {
          form.set('prompt', lyrics.text);
          form.set('title', lyrics.title);
        }}
      />
      <Field form={form} path="prompt" label="Lyrics" hint="Section markers in brackets." rows={9} />
      <Field form={form} path="tags" label="Styles" hint="" />
      <Field form={form} path="title" label="Title" hint="" rows={1} />
    </>
  );
}

/** The contract's flag is 0 or 1. */
function Instrumental({ form }: { form: Form }) {
  return (
    <label class="check">
      <input
        type="checkbox"
        checked={form.get('make_instrumental') === 1}
        onChange={(event) => form.set('make_instrumental', event.currentTarget.checked ? 1 : undefined)}
      />
      Instrumental, without vocals
    </label>
  );
}

function Continuation({ form }: { form: Form }) {
  const element = useRef<HTMLDetailsElement>(null);
  const clipId = form.get('continue_clip_id');
  useEffect(() => {
    // The button of a song set the id. The position is the next choice.
    if (clipId !== undefined && !element.current?.contains(document.activeElement))
      element.current?.querySelector<HTMLElement>('input[type="number"]')?.focus();
  }, [clipId]);
  return (
    <details ref={element} open={clipId !== undefined}>
      <summary>Continue a song</summary>
      <div class="fields">
        <Field
          form={form}
          path="continue_clip_id"
          label="Clip id"
          hint="The song to continue. Use Continue on a song."
        />
        <Field
          form={form}
          path="continue_at"
          label="Continue at"
          hint="Seconds from the start of the song."
        />
      </div>
    </details>
  );
}
