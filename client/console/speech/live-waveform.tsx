import type { ReadonlySignal } from '@preact/signals';
import { Bars } from '../parts/bars.tsx';

/** Peaks that are visible at a time. */
const shownCount = 160;

/** The latest part of a sound that arrives. */
export function LiveWaveform({ peaks }: { peaks: ReadonlySignal<readonly number[]> }) {
  const latest = peaks.value.slice(-shownCount);
  const shown = [...latest, ...Array.from({ length: shownCount - latest.length }, () => 0)];
  return (
    <div class="waveform waveform-live" role="img" aria-label="Waveform of the audio that has arrived">
      <Bars peaks={shown} />
    </div>
  );
}
