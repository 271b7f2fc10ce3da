import { useLoaded } from '../calls/run.ts';
import { ErrorNotice } from '../parts/notices.tsx';
import { formatNumber } from '../parts/numbers.tsx';
import { priceText, ruleText } from '../parts/price-rules.ts';
import { display, Prices } from '../parts/quota.tsx';
import { ScrollRegion } from '../parts/scroll-region.tsx';
import { TableHead } from '../parts/table-head.tsx';
import { useClient } from '../session/session.ts';

/** The prices of the models that the key may use, for its group. */
export function PriceTable() {
  const client = useClient();
  const state = useLoaded((signal) => Array.fromAsync(client.models.list({ signal }))).state.value;
  if (state.status === 'failed') return <ErrorNotice error={state.error} />;
  if (state.status !== 'done') return null;
  const unit = display.value === null ? 'Quota' : 'Price';
  const ratio = state.result[0]?.group_ratio ?? 1;
  return (
    <section class="stack">
      <div>
        <h2>Prices</h2>
        <p class="secondary">
          {unit} per unit for the group of your key
          {ratio === 1 ? '' : `, whose ratio is ${formatNumber(ratio)}`}.
        </p>
      </div>
      <ScrollRegion class="price-table" label="Prices">
        <table class="table">
          <TableHead columns={['Model', 'Unit', { title: `${unit} per unit`, class: 'number' }]} />
          <tbody>
            {state.result.map(
              ({ id, unit: usageUnit, unit_price: price, price_rules: rules, group_ratio: factor }) => (
                <tr key={id}>
                  <td>{id}</td>
                  <td>{usageUnit}</td>
                  <td class="number">
                    {rules?.map((rule, index) => (
                      <div key={index}>
                        <Prices render={(format) => ruleText(rule, factor, format)} />
                      </div>
                    ))}
                    {price !== null && <Prices render={(format) => priceText(price, factor, format)} />}
                  </td>
                </tr>
              ),
            )}
          </tbody>
        </table>
      </ScrollRegion>
    </section>
  );
}
