import type { MyTaskDetails } from '../../index.ts';
import { formatDuration } from '../parts/numbers.tsx';

type Event = MyTaskDetails['timeline'][number];

const labels: Readonly<Record<Event['event'], string>> = {
  created: 'Created',
  submitted: 'Submitted to the provider',
  started: 'Started',
  polled: 'Last poll of the provider',
  completed: 'Completed',
  failed: 'Failed',
  canceled: 'Canceled',
  callback: 'Callback',
};

const time = new Intl.DateTimeFormat(undefined, { timeStyle: 'medium' });

/** The events of a task, with the time since its creation. */
export function Timeline({ events }: { events: readonly Event[] }) {
  const start = events[0]?.at ?? 0;
  return (
    <ol class="timeline">
      {events.map((event, index) => (
        <li key={index} data-event={event.event}>
          <div>
            {labels[event.event]}
            {event.callback && <CallbackFacts callback={event.callback} />}
          </div>
          <time class="muted numeric" dateTime={new Date(event.at * 1_000).toISOString()}>
            {index === 0 ? time.format(event.at * 1_000) : `+ ${formatDuration((event.at - start) * 1_000)}`}
          </time>
        </li>
      ))}
    </ol>
  );
}

function CallbackFacts({ callback }: { callback: NonNullable<Event['callback']> }) {
  const { reports, state, failed_tries: failures, last_status: status, last_error: error } = callback;
  const result = { open: 'not delivered yet', delivered: 'delivered', given_up: 'given up' }[state];
  const details = [
    result,
    status && `status ${status}`,
    error,
    failures > 0 && `${failures} failed attempts`,
  ];
  return (
    <div class="muted">
      {reports}: {details.filter(Boolean).join(', ')}
    </div>
  );
}
