import { signal, useSignal } from '@preact/signals';
import { SearchX } from 'lucide';
import type { ComponentChildren } from 'preact';
import { useId, useMemo } from 'preact/hooks';
import { errors } from '../../../generated/errors.ts';
import { type Contract, useContract } from '../contract/contract.ts';
import { Badge, EmptyState } from '../parts/notices.tsx';
import { formatCount } from '../parts/numbers.tsx';
import { ScrollRegion } from '../parts/scroll-region.tsx';
import { Tabs } from '../parts/tabs.tsx';
import { gatewayUrl } from '../session/session.ts';
import { PageHead } from '../shell/page-head.tsx';
import { addressOf, replaceQuery, route } from '../shell/router.ts';
import { Changes } from './changes.tsx';
import { Conformance } from './conformance.tsx';
import './contract-page.css';
import { TableHead } from '../parts/table-head.tsx';
import { decisionsOf, type OperationRow, operationRows } from './facts.ts';
import { LiveRun } from './live-run.ts';
import { type ContractChanges, coverageOf, type OperationCoverage, type Report } from './report.ts';

const tabs = ['Operations', 'Decisions', 'Errors', 'Conformance', 'Changes'] as const;

/** The last reports that the user opened. They stay while the tab is open. */
const report = signal<Report | undefined>(undefined);
const live = new LiveRun();
const changes = signal<ContractChanges | undefined>(undefined);

/** The contract of this gateway: operations, decisions and errors with one search, and its conformance tests. */
export default function ContractPage() {
  const current = useContract();
  const rows = useMemo(() => operationRows(current), [current]);
  const text = useSignal(route.value.query.get('search') ?? '');
  const id = useId();
  const tab = tabs.find((name) => name === route.value.query.get('tab')) ?? 'Operations';
  const words = text.value.toLowerCase().split(/\s+/).filter(Boolean);
  const matches = (...texts: readonly string[]) => {
    const all = texts.join(' ').toLowerCase();
    return words.every((word) => all.includes(word));
  };
  const update = (next: string) => replaceQuery({ tab: next, search: text.value });
  return (
    <>
      <PageHead title="Contract">
        Version {current.document.info.version} of the contract, as this gateway serves it:{' '}
        <a href={`${gatewayUrl}/openapi.json`}>openapi.json</a>,{' '}
        <a href={`${gatewayUrl}/asyncapi.json`}>asyncapi.json</a>.
      </PageHead>
      <div class="stack">
        <div class="field contract-search" hidden={tab === 'Conformance' || tab === 'Changes'}>
          <label class="visually-hidden" for={id}>
            Search the contract
          </label>
          <input
            id={id}
            class="input"
            type="search"
            placeholder="Search the contract"
            value={text.value}
            onInput={(event) => {
              text.value = event.currentTarget.value;
              update(tab);
            }}
          />
        </div>
        <Tabs label="Parts of the contract" names={tabs} selected={tab} onSelect={update}>
          {tab === 'Operations' && <Operations rows={rows} matches={matches} />}
          {tab === 'Decisions' && <Decisions current={current} matches={matches} />}
          {tab === 'Errors' && <Errors matches={matches} />}
          {tab === 'Conformance' && <Conformance areas={areasOf(rows)} live={live} report={report} />}
          {tab === 'Changes' && <Changes changes={changes} />}
        </Tabs>
      </div>
    </>
  );
}

const areasOf = (rows: readonly OperationRow[]) => [...new Set(rows.map(({ area }) => area))];

type Matches = (...texts: readonly string[]) => boolean;

function Operations({ rows, matches }: { rows: readonly OperationRow[]; matches: Matches }) {
  const coverage = useMemo(() => report.value && coverageOf(report.value), [report.value]);
  const found = rows.filter(({ id, path, method, summary, area }) =>
    matches(id, path, method, summary, area),
  );
  return (
    <List count={found.length} noun="operations">
      <table class="table">
        <thead>
          <tr>
            <th scope="col">Operation</th>
            <th scope="col" class="wide-only">
              Summary
            </th>
            <th scope="col" class="wide-only">
              Area
            </th>
            <th scope="col" class="wide-only">
              Statuses
            </th>
            <th scope="col" class="wide-only number">
              Examples
            </th>
            {coverage && <th scope="col">Conformance</th>}
          </tr>
        </thead>
        <tbody>
          {found.map(({ id, area, method, path, summary, statuses, isExtension, examples }) => (
            <tr key={`${method} ${path}`}>
              <td class="contract-place">
                <a class="mono" href={`${gatewayUrl}/docs/reference#operation/${id}`}>
                  {method} {path}
                </a>
                <div class="narrow-only">{summary}</div>
              </td>
              <td class="wide-only contract-text">
                {summary} {isExtension && <Badge>extension</Badge>}
              </td>
              <td class="wide-only">{area}</td>
              <td class="wide-only numeric contract-statuses">{statuses.join(' ')}</td>
              <td class="wide-only number">{examples}</td>
              {coverage && (
                <td>
                  <Coverage coverage={coverage.get(id)} />
                </td>
              )}
            </tr>
          ))}
        </tbody>
      </table>
    </List>
  );
}

function Coverage({ coverage }: { coverage: OperationCoverage | undefined }) {
  if (coverage === undefined) return <Badge>not tested</Badge>;
  const { covered, documented, failed } = coverage;
  return (
    <Badge tone={failed > 0 ? 'danger' : covered === documented ? 'success' : 'neutral'}>
      {failed > 0 ? `${failed} failed` : `${covered} of ${documented} responses`}
    </Badge>
  );
}

function Decisions({ current, matches }: { current: Contract; matches: Matches }) {
  const decisions = useMemo(() => decisionsOf(current), [current]);
  const found = decisions.filter(({ place, text }) => matches(place, text));
  return (
    <List count={found.length} noun="decisions">
      <table class="table">
        <TableHead columns={['Place', 'Decision']} />
        <tbody>
          {found.map(({ place, text }) => (
            <tr key={text}>
              <td class="contract-place mono">{place}</td>
              <td class="contract-text">{text}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </List>
  );
}

const retries = { never: 'never', now: 'at once', later: 'after a pause' };

function Errors({ matches }: { matches: Matches }) {
  const found = errors.filter(({ code, statuses, families }) =>
    matches(code, statuses.join(' '), families.join(' ')),
  );
  return (
    <List count={found.length} noun="errors">
      <table class="table">
        <TableHead columns={['Code', 'Statuses', 'Where', 'Retry']} />
        <tbody>
          {found.map(({ code, statuses, families, retry }) => (
            <tr key={`${code} ${statuses.join()} ${families.join()}`}>
              <td>
                <a class="mono" href={`${gatewayUrl}/docs/errors#${code}`}>
                  {code}
                </a>
              </td>
              <td class="numeric">{statuses.join(' ') || 'none'}</td>
              <td>{families.join(', ')}</td>
              <td>{retries[retry]}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </List>
  );
}

function List({ count, noun, children }: { count: number; noun: string; children: ComponentChildren }) {
  if (count === 0)
    return (
      <EmptyState icon={SearchX} title={`No ${noun} match the search.`}>
        <a href={addressOf('contract')}>Clear the search</a>
      </EmptyState>
    );
  return (
    <>
      <p class="muted contract-count" aria-live="polite">
        {formatCount(count)} {noun}
      </p>
      <ScrollRegion label={noun}>{children}</ScrollRegion>
    </>
  );
}
