import type { Signal } from '@preact/signals';
import { FileUp } from 'lucide';
import { Code } from '../calls/call-panel.tsx';
import { Badge, EmptyState } from '../parts/notices.tsx';
import { formatCount } from '../parts/numbers.tsx';
import { type ContractChanges, readChanges } from './report.ts';
import { ReportFile } from './report-file.tsx';

const command = 'npm run --silent changelog -- --json > changes.json';

const severities = [
  { severity: 'major', title: 'Breaking', tone: 'danger' },
  { severity: 'minor', title: 'Compatible', tone: 'success' },
  { severity: 'patch', title: 'Documentation', tone: 'neutral' },
] as const;

/** The changes of the contract since a release, breaking changes first, and the version that they need. */
export function Changes({ changes }: { changes: Signal<ContractChanges | undefined> }) {
  return (
    <div class="workbench contract-report">
      <div class="card fields">
        <p class="secondary">In a checkout, this command compares the contract with the last release.</p>
        <Code text={command} label="Command" />
        <ReportFile onText={(text) => (changes.value = readChanges(text))} />
      </div>
      {changes.value === undefined ? (
        <EmptyState icon={FileUp} title="No changes yet">
          <p>Run the command, then choose the file changes.json.</p>
        </EmptyState>
      ) : (
        <Results changes={changes.value} />
      )}
    </div>
  );
}

function Results({ changes: { base, baseVersion, lowestVersion, areas } }: { changes: ContractChanges }) {
  const all = Object.entries(areas).flatMap(([area, entries]) =>
    entries.map((entry) => ({ ...entry, area })),
  );
  return (
    <div class="stack">
      <p class="card secondary">
        {formatCount(all.length)} changes since {base}, version {baseVersion}. They need at least version{' '}
        {lowestVersion}.
      </p>
      {severities.map(({ severity, title, tone }) => {
        const found = all.filter((entry) => entry.severity === severity);
        if (found.length === 0) return null;
        return (
          <section key={severity} class="card stack">
            <h2 class="row">
              {title} <Badge tone={tone}>{formatCount(found.length)}</Badge>
            </h2>
            <ul class="contract-changes">
              {found.map(({ change, operations, area }) => (
                <li key={`${change} ${operations.join()}`}>
                  {change.replaceAll('`', '')} <span class="muted">{operations.join(', ') || area}</span>
                </li>
              ))}
            </ul>
          </section>
        );
      })}
    </div>
  );
}
