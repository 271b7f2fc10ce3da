import { useSignal } from '@preact/signals';
import { Cost } from '../calls/cost.tsx';
import { AudioPlayer } from '../parts/audio-player.tsx';
import { ErrorNotice } from '../parts/notices.tsx';
import { formatDuration } from '../parts/numbers.tsx';
import { Stats } from '../parts/stats.tsx';
import type { SpokenFile } from './generate.ts';

/** A voice in a comparison, with its result. */
export interface Contender {
  model: string;
  voice: string;
  status: 'waiting' | 'running' | 'done' | 'failed';
  result?: SpokenFile;
  error?: unknown;
}

/** The results side by side. */
export function Comparison({ contenders }: { contenders: readonly Contender[] }) {
  return (
    <ul class="comparison" aria-label="Results">
      {contenders.map((contender, index) => (
        <li key={index} class="card stack" aria-busy={contender.status === 'running'}>
          <div>
            <h2>{contender.voice}</h2>
            <p class="muted">{contender.model}</p>
          </div>
          <Outcome contender={contender} />
        </li>
      ))}
    </ul>
  );
}

function Outcome({ contender: { status, result, error, voice } }: { contender: Contender }) {
  const durationSeconds = useSignal<number | undefined>(undefined);
  if (status === 'failed') return <ErrorNotice error={error} />;
  if (result === undefined)
    return status === 'running' ? (
      <div class="skeleton comparison-placeholder" />
    ) : (
      <p class="muted comparison-placeholder">Waiting</p>
    );
  return (
    <>
      <AudioPlayer
        source={result.file}
        label={`the speech of ${voice}`}
        fileName={`${voice}.${result.format}`}
        onDuration={(seconds) => (durationSeconds.value = seconds)}
      />
      <Stats
        items={{
          'First byte': formatDuration(result.firstByteMs),
          Total: formatDuration(result.totalMs),
          Duration: durationSeconds.value && formatDuration(durationSeconds.value * 1_000),
          Cost: result.requestId && <Cost requestId={result.requestId} />,
        }}
      />
    </>
  );
}
