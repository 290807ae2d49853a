// An array at certain sizes: its cells, addresses and conflicts, and what one execution does to it.
// Moments count the steps of all arrays together; -1 is before the first one.
class Scene {
  constructor(raw, about, view) {
    Object.assign(this, raw);
    this.about = about;
    this.name = about.array;
    this.rank = about.dimensions.length;
    this.end = view.steps ? view.steps.length : 0;
    this.bits = Uint8Array.from(atob(raw.conflicts), (character) => character.charCodeAt(0));
    this.rowBytes = Math.ceil(this.cells.length / 8);
    this.places = this.#places();
    this.allocated = this.size ?? new Set(this.places).size;
    this.byPlace = new Map();
    this.places.forEach((place, k) => {
      if (!this.byPlace.has(place)) this.byPlace.set(place, []);
      this.byPlace.get(place).push(k);
    });
    if (this.steps) this.#live();
  }

  // Addresses counted from zero, the last coordinate fastest.
  #places() {
    if (this.moduli) {
      return this.addresses.map((address) => address.reduce((sum, value, k) => sum * this.moduli[k] + value, 0));
    }
    if (this.size !== null && this.addresses.every((address) => address.length === 1)) {
      return this.addresses.map((address) => address[0]);
    }
    const known = [...new Set(this.addresses.map(String))].sort();
    return this.addresses.map((address) => known.indexOf(String(address)));
  }

  conflict(x, y) {
    return (this.bits[x * this.rowBytes + (y >> 3)] >> (y & 7)) & 1;
  }

  partners(x) {
    return [...this.cells.keys()].filter((y) => this.conflict(x, y));
  }

  sharing(x) {
    return this.byPlace.get(this.places[x]).filter((y) => y !== x);
  }

  label(k) {
    return `${this.name}[${this.cells[k].join(", ")}]`;
  }

  // Whether cells so far apart have one address.
  isShared(difference) {
    if (!this.moduli) return false;
    return this.matrix.every((row, k) => {
      const apart = row.reduce((sum, entry, d) => sum + entry * difference[d], 0);
      return modulo(apart, this.moduli[k] * this.divisors[k]) === 0;
    });
  }

  collisions() {
    const found = [];
    for (let x = 0; x < this.cells.length; x++) {
      for (const y of this.sharing(x)) if (x < y && this.conflict(x, y)) found.push([x, y]);
    }
    return found;
  }

  // What the array does at a moment: cells read, cells written.
  touched(moment) {
    const step = this.byMoment.get(moment);
    return step ? [step[1], step[2]] : [[], []];
  }

  // From when to when each cell holds values, live cells after each moment, and reads that find another's value.
  #live() {
    this.byMoment = new Map(this.steps.map((step) => [step[0], step]));
    this.lifetimes = new Map();
    const changes = new Array(this.end + 2).fill(0);
    for (const [k, first, last] of this.values) {
      const end = last === -1 ? this.end : last;
      if (!this.lifetimes.has(k)) this.lifetimes.set(k, []);
      this.lifetimes.get(k).push([first, end]);
      const until = Math.max(end ?? 0, first < 0 ? first : first + 1);
      if (until > first) {
        changes[first + 1] += 1;
        changes[until + 1] -= 1;
      }
    }
    let now = 0;
    this.counts = changes.slice(0, this.end + 1).map((change) => (now += change));
    this.most = Math.max(...this.counts);
    this.wrong = [];
    const memory = new Map(this.liveIn.map((k) => [this.places[k], k]));
    for (const [moment, reads, writes] of this.steps) {
      for (const k of reads) {
        const found = memory.get(this.places[k]);
        if (found !== k && this.isBorn(k, moment - 1)) this.wrong.push({ moment, cell: k, found });
      }
      for (const k of writes) memory.set(this.places[k], k);
    }
    for (const k of this.liveOut) {
      const found = memory.get(this.places[k]);
      if (found !== k && this.lifetimes.has(k)) this.wrong.push({ moment: this.end - 1, cell: k, found });
    }
  }

  isBorn(k, moment) {
    return this.lifetimes.has(k) && this.lifetimes.get(k)[0][0] <= moment;
  }

  isLive(k, moment) {
    if (this.touched(moment)[1].includes(k)) return true;
    return (this.lifetimes.get(k) ?? []).some(([first, last]) => first <= moment && moment < (last ?? -1));
  }

  liveCount(moment) {
    return this.counts[moment + 1];
  }

  memoryAt(moment) {
    const memory = new Map(this.liveIn.map((k) => [this.places[k], k]));
    for (const [when, , writes] of this.steps) {
      if (when > moment) break;
      for (const k of writes) memory.set(this.places[k], k);
    }
    return memory;
  }
}

// All arrays at certain sizes, and the instances of one execution.
class View {
  constructor(raw, arrays) {
    Object.assign(this, raw);
    this.scenes = raw.scenes.map((scene, k) => scene && new Scene(scene, arrays[k], raw));
  }

  // Where most cells of the arrays that the tool folds are live; where a value is lost, if one is.
  get interesting() {
    const lost = this.scenes.flatMap((scene) => scene?.wrong ?? []);
    if (lost.length) return Math.min(...lost.map((one) => one.moment));
    let best = 0;
    let most = -1;
    for (let moment = 0; moment < this.steps.length; moment++) {
      const live = this.scenes.reduce((sum, scene) => sum + (scene?.counts ? scene.liveCount(moment) : 0), 0);
      if (live > most) [best, most] = [moment, live];
    }
    return best;
  }
}
