import { useSignal } from '@preact/signals';
import { useLayoutEffect, useMemo, useRef } from 'preact/hooks';
import { barPath, barsIn } from './waveform.ts';

interface BarsProps {
  /** Without peaks, a line takes the place of the bars. */
  peaks: readonly number[] | undefined;
  /** Draws the part that was played. */
  isPlayed?: boolean;
}

/** The bars of a waveform, as many as fit. */
export function Bars({ peaks, isPlayed }: BarsProps) {
  const element = useRef<SVGSVGElement>(null);
  const count = useSignal(1);
  useLayoutEffect(() => {
    const observer = new ResizeObserver(([entry]) => {
      count.value = barsIn(entry?.contentRect.width ?? 0);
    });
    if (element.current) observer.observe(element.current);
    return () => observer.disconnect();
  }, []);
  const path = useMemo(
    () => (peaks ? barPath(peaks, count.value) : `M0 50H${count.value}`),
    [peaks, count.value],
  );
  return (
    <svg
      ref={element}
      class={isPlayed ? 'waveform-played' : undefined}
      viewBox={`0 0 ${count.value} 100`}
      preserveAspectRatio="none"
      aria-hidden="true"
    >
      <path d={path} vector-effect="non-scaling-stroke" />
    </svg>
  );
}
