"""Makes tfidf.json: what scikit-learn's TfidfVectorizer makes of a few texts. A vocabulary that is cut keeps the terms
that most texts have, ties by name. Debian: python3-sklearn; then python3 tfidf.py"""
import json
import sklearn
from sklearn.feature_extraction.text import CountVectorizer, TfidfVectorizer

fit = [
    "The cat sat on the mat, and the cat slept.",
    "the DOG sat on the log; dogs don't sleep on logs",
    "A cat and a dog: cat_and_dog, cat-and-dog",
    "42 is 42, but 4 2 is not; 3.14159 is pi",
    "Ünïcödé straße STRASSE naïve café CAFÉ",
    "ΟΔΟΣ οδος ΣΑΣ Σ ΑΣ; İstanbul Istanbul ISTANBUL",
    "日本語 の テキスト、日本語 の 文",
    "हिन्दी में पाठ, हिन्दी",
    "",
    "a b c ! ?",
    "x² ½ Ⅷ ab² __init__ _ __",
    "the the the the cat\tthe\u00a0cat\u2003the",
]
new = ["the cat sat on unknown words", "nothing known whatsoever here", "Cat AND Dog and cat", "οδοσ ΟΔΟΣ istanbul 42"]


def vocabulary(words, least, most):
    c = CountVectorizer(ngram_range=(1, words), min_df=least, binary=True)
    texts = c.fit_transform(fit).sum(axis=0).A1
    return sorted(sorted(c.get_feature_names_out(), key=lambda t: (-texts[c.vocabulary_[t]], t))[:most])


cases = []
for words, least, most in [(1, 1, None), (2, 1, None), (2, 2, None), (3, 1, None), (2, 1, 3)]:
    v = TfidfVectorizer(ngram_range=(1, words), min_df=least, vocabulary=vocabulary(words, least, most))
    rows = lambda x: [[[int(j), float(r[0, j])] for j in sorted(r.nonzero()[1])] for r in (x[i] for i in range(x.shape[0]))]
    a, b = v.fit_transform(fit), v.transform(new)
    cases.append(dict(words=words, least=least, most=most or 0, terms=list(v.get_feature_names_out()),
                      idf=[float(w) for w in v.idf_], fit=rows(a), new=rows(b)))
with open("tfidf.json", "w") as out:
    json.dump(dict(sklearn=sklearn.__version__, fit=fit, new=new, cases=cases), out, ensure_ascii=False)
    out.write("\n")
