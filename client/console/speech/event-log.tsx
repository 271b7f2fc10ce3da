import { useEffect, useRef } from 'preact/hooks';
import { formatDuration } from '../parts/numbers.tsx';
import type { LogEntry } from './realtime-call.ts';

/** The events of a session in both directions, newest last. */
export function EventLog({ entries }: { entries: readonly LogEntry[] }) {
  const element = useRef<HTMLDivElement>(null);
  useEffect(() => {
    element.current?.scrollTo(0, element.current.scrollHeight);
  }, [entries]);
  return (
    <div ref={element} class="event-log" tabIndex={0} role="region" aria-label="Events">
      <table>
        <thead class="visually-hidden">
          <tr>
            <th>Time</th>
            <th>Direction</th>
            <th>Event</th>
          </tr>
        </thead>
        <tbody>
          {entries.map(({ atMs, isSent, type, detail, count }, index) => (
            <tr key={index}>
              <td class="numeric muted">{formatDuration(atMs)}</td>
              <td class={isSent ? 'event-sent' : 'muted'}>
                <span aria-hidden="true">{isSent ? '↑' : '↓'}</span>
                <span class="visually-hidden">{isSent ? 'sent' : 'received'}</span>
              </td>
              <td class={type === 'error' ? 'field-error' : undefined}>
                <code>{type}</code>
                {count > 1 && <span class="muted numeric"> × {count}</span>}
                {detail && <span class="muted"> {detail}</span>}
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}
