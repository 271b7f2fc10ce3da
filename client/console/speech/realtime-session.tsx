import type { Signal } from '@preact/signals';
import { CornerDownLeft, MessageSquareText, Square } from 'lucide';
import type { RefObject } from 'preact';
import { useId } from 'preact/hooks';
import type { RealtimeUsage } from '../../../generated/events.ts';
import type { Run } from '../calls/run.ts';
import { AudioPlayer } from '../parts/audio-player.tsx';
import { Button } from '../parts/button.tsx';
import { EmptyState, ErrorNotice } from '../parts/notices.tsx';
import { formatBytes, formatCount, formatDuration } from '../parts/numbers.tsx';
import { Stats } from '../parts/stats.tsx';
import { EventLog } from './event-log.tsx';
import { LiveWaveform } from './live-waveform.tsx';
import type { RealtimeCall } from './realtime-call.ts';

interface WriterProps {
  call: RealtimeCall | undefined;
  text: Signal<string>;
  input: RefObject<HTMLTextAreaElement | null>;
}

/** The text of a session. Sent words can no longer be changed. */
export function Writer({ call, text, input }: WriterProps) {
  const id = useId();
  const isOpen = call?.isOpen.value ?? false;
  const write = (element: HTMLTextAreaElement) => {
    text.value = isOpen && call ? call.write(element.value) : element.value;
    // The field keeps its own value if the signal does not change.
    element.value = text.value;
  };
  return (
    <section class="card stack">
      <div class="field">
        <label class="field-label" for={id}>
          Text
          <span class="field-limit" role="status">
            {isOpen ? 'Connected: write, and hear each word' : 'Not connected'}
          </span>
        </label>
        <textarea
          ref={input}
          id={id}
          class="input realtime-text"
          rows={5}
          value={text.value}
          onInput={(event) => {
            if (!event.isComposing) write(event.currentTarget);
          }}
          onCompositionEnd={(event) => write(event.currentTarget)}
        />
        <p class="field-hint">A word is sent when you finish it. Sent words cannot be changed.</p>
      </div>
      <div class="row">
        <Button small icon={CornerDownLeft} disabled={!isOpen} onClick={() => call?.commit(text.peek())}>
          Speak now
        </Button>
        <Button small icon={Square} disabled={!isOpen} onClick={() => call?.cancel()}>
          Stop the response
        </Button>
        <Button small disabled={!isOpen} onClick={() => call?.finish(text.peek())}>
          Finish
        </Button>
      </div>
    </section>
  );
}

/** Sound, usage and events of a session. */
export function SessionResult({ run, call }: { run: Run<Blob>; call: RealtimeCall | undefined }) {
  const state = run.state.value;
  if (call === undefined)
    return (
      <>
        {state.status === 'failed' && <ErrorNotice error={state.error} />}
        <EmptyState icon={MessageSquareText} title="Speech that follows your keyboard">
          <p>Start speaking: the text above is spoken, and every word that you add.</p>
        </EmptyState>
      </>
    );
  const { player, usage, log } = call;
  const firstSound = player.firstSoundMs.value;
  return (
    <section class="card stack" aria-label="Session">
      {state.status === 'done' ? (
        <AudioPlayer source={state.result} label="the session" fileName="session.wav" />
      ) : (
        <LiveWaveform peaks={player.peaks} />
      )}
      {state.status === 'failed' && <ErrorNotice error={state.error} />}
      <Stats
        items={{
          'First sound': firstSound === undefined ? '…' : formatDuration(firstSound),
          Received: formatBytes(player.bytes.value),
          'Usage so far': usage.value ? usageText(usage.value) : '…',
        }}
      />
      <EventLog entries={log.value} />
    </section>
  );
}

const usageText = (usage: RealtimeUsage) =>
  'characters' in usage
    ? `${formatCount(usage.characters)} characters`
    : `${formatCount(usage.total_tokens ?? 0)} tokens`;
