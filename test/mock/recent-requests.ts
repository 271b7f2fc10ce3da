/** A request to the mock for the control page. */
export interface RecentRequest {
  /** Epoch milliseconds. */
  at: number;
  method: string;
  /** Without the query, which contains the settings of a socket. */
  path: string;
  /** Undefined for an unknown path. */
  operation?: string;
  /** Simulated delay in milliseconds. */
  delay?: number;
  fault?: string;
  /** Undefined before the response. */
  status?: number;
  /** Undefined while the request is in progress. */
  end?: 'whole' | 'broken';
  /** Duration in milliseconds. */
  ms?: number;
}

const maxRequests = 100;

/** The last requests, newest first. */
export class RecentRequests {
  #requests: RecentRequest[] = [];

  /** Records a request. The caller updates the returned object. */
  add(request: RecentRequest): RecentRequest {
    this.#requests = [request, ...this.#requests].slice(0, maxRequests);
    return request;
  }

  list(): readonly RecentRequest[] {
    return this.#requests;
  }

  clear(): void {
    this.#requests = [];
  }
}
