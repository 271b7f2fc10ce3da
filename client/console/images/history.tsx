import { CircleAlert, LoaderCircle, Paintbrush } from 'lucide';
import { Icon } from '../parts/icon.tsx';
import { type JobRuns, needsInput } from './job-runs.ts';
import { entries, type JobEntry } from './jobs.ts';

interface HistoryProps {
  runs: JobRuns;
  selectedId: string | undefined;
  onSelect: (id: string) => void;
}

/** The jobs of this tab as thumbnails. */
export function History({ runs, selectedId, onSelect }: HistoryProps) {
  if (entries.value.length < 2) return null;
  return (
    <section class="stack" aria-labelledby="image-history">
      <h2 id="image-history">Jobs in this tab</h2>
      <ul class="image-history">
        {entries.value.map((entry) => (
          <li key={entry.id}>
            <button
              type="button"
              aria-label={entry.title}
              title={entry.title}
              aria-pressed={entry.id === selectedId}
              onClick={() => onSelect(entry.id)}
            >
              <Thumbnail entry={entry} runs={runs} />
            </button>
          </li>
        ))}
      </ul>
    </section>
  );
}

function Thumbnail({ entry, runs }: { entry: JobEntry; runs: JobRuns }) {
  const run = runs.of(entry);
  const state = run.state.value;
  if (state.status === 'done') return <img src={state.result.imageUrl ?? ''} alt="" loading="lazy" />;
  if (needsInput(run)) return <Icon node={Paintbrush} />;
  if (state.status === 'failed') return <Icon node={CircleAlert} />;
  return <Icon node={LoaderCircle} className={state.status === 'running' ? 'spinner' : ''} />;
}
