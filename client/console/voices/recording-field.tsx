import { AudioLines, Mic, Square, Trash2 } from 'lucide';
import { useEffect, useMemo } from 'preact/hooks';
import { useRun } from '../calls/run.ts';
import type { Form } from '../contract/form.ts';
import { AudioPlayer } from '../parts/audio-player.tsx';
import { Button, IconButton } from '../parts/button.tsx';
import { MediaDrop } from '../parts/media-drop.tsx';
import { ErrorNotice } from '../parts/notices.tsx';
import { formatClock } from '../parts/numbers.tsx';
import { Recorder } from './recorder.ts';
import { fileOf, recordingUrl } from './wav-recording.ts';

const script =
  'I am recording my voice in a quiet room. The lighthouse keeper counted the boats, and every evening he wrote the number in his book.';

/** A recording from the microphone, a file or an address. */
export function RecordingField({ form, path }: { form: Form; path: string }) {
  useEffect(() => form.show(path), [form, path]);
  const conversion = useRun<void>();
  const problem = form.problem(path);
  const url = form.text(path);
  const convert = (load: () => Promise<Blob>) =>
    conversion.start(async (abort) => {
      const converted = await recordingUrl(await load());
      if (!abort.aborted) form.set(path, converted);
    });
  const add = (added: string) => {
    if (added.startsWith('data:')) void convert(() => Promise.resolve(fileOf(added)));
    else form.set(path, added);
  };
  const state = conversion.state.value;
  return (
    <div class="field" data-invalid={problem !== undefined} tabIndex={-1}>
      {url === '' ? (
        <>
          <RecordButton onRecord={(load) => void convert(load)} />
          <MediaDrop
            label="Recording"
            icon={AudioLines}
            accept="audio/*"
            placeholder="https://files.example/narrator.wav"
            hint="10 to 20 s of one speaker, without noise."
            onAdd={add}
          />
        </>
      ) : (
        <>
          <span class="field-label">
            Recording
            <IconButton
              icon={Trash2}
              label="Remove the recording"
              onClick={() => form.set(path, undefined)}
            />
          </span>
          <Preview url={url} />
        </>
      )}
      {state.status === 'failed' && <ErrorNotice error={recordingError(state.error)} />}
      {problem && (
        <p class="field-error" role="alert">
          {problem}
        </p>
      )}
    </div>
  );
}

function Preview({ url }: { url: string }) {
  const source = useMemo(() => (url.startsWith('data:') ? fileOf(url) : url), [url]);
  return <AudioPlayer source={source} label="the recording" fileName="recording.wav" />;
}

function RecordButton({ onRecord }: { onRecord: (load: () => Promise<Blob>) => void }) {
  const recorder = useMemo(() => new Recorder(), []);
  useEffect(() => () => recorder.close(), []);
  if (!recorder.isRecording.value)
    return (
      <div class="stack record">
        <p class="record-script">
          <span class="muted">Read aloud, for example:</span> {script}
        </p>
        <Button icon={Mic} onClick={() => onRecord(() => recorder.record())}>
          Record
        </Button>
      </div>
    );
  return (
    <div class="stack record">
      <p class="record-script">{script}</p>
      <Button variant="danger" icon={Square} onClick={() => recorder.stop()}>
        Stop recording <span class="numeric">{formatClock(recorder.seconds.value)}</span>
      </Button>
      <p class="visually-hidden" role="status">
        The microphone is recording.
      </p>
    </div>
  );
}

function recordingError(error: unknown): Error {
  if (error instanceof DOMException && error.name === 'NotAllowedError')
    return new Error('The browser does not allow this page to use the microphone. Choose a file instead.');
  if (error instanceof DOMException && error.name === 'NotFoundError')
    return new Error('There is no microphone. Choose a file instead.');
  return new Error('The recording cannot be read. Use WAV, MP3 or M4A.', { cause: error });
}
