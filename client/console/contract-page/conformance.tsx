import { type Signal, useSignal } from '@preact/signals';
import { FileUp } from 'lucide';
import { useId } from 'preact/hooks';
import { Code } from '../calls/call-panel.tsx';
import { Badge, EmptyState } from '../parts/notices.tsx';
import { formatCount, formatDuration, Time } from '../parts/numbers.tsx';
import { gatewayUrl } from '../session/session.ts';
import { type Check, type Report, readReport } from './report.ts';
import { ReportFile } from './report-file.tsx';

interface ConformanceProps {
  /** Areas of the contract. */
  areas: readonly string[];
  report: Signal<Report | undefined>;
}

/** The command that tests a server against the contract, and the results of a run. */
export function Conformance({ areas, report }: ConformanceProps) {
  const server = useSignal(gatewayUrl);
  const area = useSignal('');
  const id = useId();
  const command = [
    'npx unigate-conformance',
    `--base-url ${server.value || gatewayUrl}`,
    ...(area.value === '' ? [] : [`--only ${area.value}`]),
    '--report report.json',
  ].join(' ');
  return (
    <div class="workbench contract-report">
      <div class="card fields">
        <p class="secondary">The conformance kit tests any server. It reads the key from UNIGATE_API_KEY.</p>
        <div class="field">
          <label class="field-label" for={`${id}-server`}>
            Server
          </label>
          <input
            id={`${id}-server`}
            class="input"
            type="url"
            value={server.value}
            onInput={(event) => (server.value = event.currentTarget.value.trim())}
          />
        </div>
        <div class="field">
          <label class="field-label" for={`${id}-area`}>
            Area
          </label>
          <select
            id={`${id}-area`}
            class="input"
            value={area.value}
            onChange={(event) => (area.value = event.currentTarget.value)}
          >
            <option value="">All</option>
            {areas.map((name) => (
              <option key={name} value={name}>
                {name}
              </option>
            ))}
          </select>
        </div>
        <Code text={command} label="Command" />
        <ReportFile onText={(text) => (report.value = readReport(text))} />
      </div>
      {report.value === undefined ? (
        <EmptyState icon={FileUp} title="No report yet">
          <p>Run the command, then choose the file report.json.</p>
        </EmptyState>
      ) : (
        <Results report={report.value} />
      )}
    </div>
  );
}

function Results({ report }: { report: Report }) {
  const { baseUrl, contract, startedAt, seconds, passed, failed, skipped, checks } = report;
  const shown = [...withOutcome(checks, 'failed'), ...withOutcome(checks, 'skipped')];
  return (
    <div class="stack">
      <div class="card stack">
        <div class="row">
          <Badge tone={failed === 0 ? 'success' : 'danger'}>{formatCount(failed)} failed</Badge>
          <Badge tone="success">{formatCount(passed)} passed</Badge>
          <Badge>{formatCount(skipped)} skipped</Badge>
        </div>
        <p class="secondary">
          {baseUrl}, contract {contract}, <Time at={Date.parse(startedAt)} />,{' '}
          {formatDuration(seconds * 1_000)}
        </p>
      </div>
      {shown.map(({ operation, name, outcome, problems, curl }) => (
        <details key={`${operation} ${name}`} class="card" open={outcome === 'failed'}>
          <summary class="row">
            <Badge tone={outcome === 'failed' ? 'danger' : 'neutral'}>{outcome}</Badge>
            <strong>{operation}</strong> {name}
          </summary>
          <ul class="contract-problems">
            {problems.map((problem) => (
              <li key={problem}>{problem}</li>
            ))}
          </ul>
          {curl && <Code text={curl} label={`Request of ${operation} ${name}`} />}
        </details>
      ))}
    </div>
  );
}

const withOutcome = (checks: readonly Check[], outcome: Check['outcome']) =>
  checks.filter((check) => check.outcome === outcome);
