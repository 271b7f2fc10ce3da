import type { Reload } from '../../index.ts';
import { useLoaded, useRun } from '../calls/run.ts';
import { Button } from '../parts/button.tsx';
import { Dialog } from '../parts/dialog.tsx';
import { ErrorNotice } from '../parts/notices.tsx';
import { useClient } from '../session/session.ts';

/** Shows what a reload of the configuration would change, and applies it. Errors name file and line. */
export function ReloadDialog({ onClose }: { onClose: () => void }) {
  const client = useClient();
  const preview = useLoaded((signal) => client.admin.reload({ dry_run: true }, { signal })).state.value;
  const run = useRun<Reload>();
  const applied = run.state.value;
  const shown = applied.status === 'done' ? applied : preview;
  return (
    <Dialog title="Reload the configuration" onClose={onClose}>
      {shown.status === 'failed' && <ErrorNotice error={shown.error} />}
      {applied.status === 'failed' && <ErrorNotice error={applied.error} />}
      {shown.status === 'done' && <Changes reload={shown.result} />}
      <div class="row">
        {applied.status !== 'done' && preview.status === 'done' && (
          <Button
            variant="primary"
            busy={applied.status === 'running'}
            onClick={() => void run.start((signal) => client.admin.reload({}, { signal }))}
          >
            Apply
          </Button>
        )}
        <Button onClick={onClose}>Close</Button>
      </div>
    </Dialog>
  );
}

function Changes({ reload }: { reload: Reload }) {
  const {
    file,
    applied,
    revision,
    channels,
    groups,
    prices,
    settings,
    needs_restart: restart,
    warnings,
  } = reload;
  const rows = Object.entries({ Channels: channels, Groups: groups, Prices: prices }).flatMap(
    ([kind, changes]) =>
      (['added', 'changed', 'removed'] as const).flatMap((change) =>
        changes[change].map((name) => ({ kind, change, name })),
      ),
  );
  return (
    <>
      <p role="status">
        {applied ? 'Applied.' : 'A check without effect.'} {file === null ? 'The gateway has no file.' : file}
        , revision <code>{revision}</code>.
      </p>
      {rows.length + settings.length + restart.length === 0 && <p class="secondary">Nothing changes.</p>}
      <ul class="reload-changes">
        {rows.map(({ kind, change, name }) => (
          <li key={`${kind} ${name}`}>
            {kind}: <code>{name}</code> {change}
          </li>
        ))}
        {settings.map((name) => (
          <li key={name}>
            Setting <code>{name}</code> changed
          </li>
        ))}
        {restart.map((name) => (
          <li key={name}>
            <code>{name}</code> takes effect at the next start
          </li>
        ))}
      </ul>
      {warnings.map((warning) => (
        <p key={warning} class="notice notice-warning">
          {warning}
        </p>
      ))}
    </>
  );
}
