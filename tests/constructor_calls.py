"""Constructor calls of scikit-learn's linear models in the shapes that public code has.

Parameter names, their order and the kinds of values are as found; the values are plain literals.
Marks: "L1" = an L1 or elastic-net penalty is in force (also by default, as in QuantileRegressor);
"old" = a spelling that newer scikit-learn no longer takes but public code still has.
"""

CALLS = (
    # LinearSVC: 20
    "LinearSVC()",
    "LinearSVC(C=0.1)",
    "LinearSVC('l2')",
    "LinearSVC('l2', 'hinge', dual=True, fit_intercept=True)",
    "LinearSVC(dual='auto')",
    "LinearSVC(dual=False)",
    "LinearSVC(random_state=0, tol=1e-5)",
    "LinearSVC(C=100.0, random_state=42)",
    "LinearSVC(C=1, loss='hinge')",
    "LinearSVC(C=1.0, max_iter=10000, intercept_scaling=1)",
    "LinearSVC(C=1.0, max_iter=20000, verbose=1)",
    "LinearSVC(C=1.0, class_weight='balanced', random_state=42, max_iter=2000)",
    "LinearSVC(class_weight='balanced', max_iter=10000)",
    "LinearSVC(loss='hinge', C=1, class_weight={1: 10}, random_state=1)",
    "LinearSVC(fit_intercept=False, dual=False)",
    "LinearSVC(penalty='l2', loss='squared_hinge', dual=False)",
    "LinearSVC(dual='auto', class_weight='balanced', random_state=0, max_iter=5000, multi_class='ovr')",
    "LinearSVC(multi_class='crammer_singer', random_state=42, max_iter=5000)",
    "LinearSVC(penalty='l2', loss='squared_hinge', dual=True, tol=0.0001, C=10, multi_class='ovr', fit_intercept=True, intercept_scaling=1, class_weight=None, verbose=0, random_state=0, max_iter=1000)",
    "LinearSVC(C=0.01, penalty='l1', dual=False)",  # L1
    # LogisticRegression: 30
    "LogisticRegression()",
    "LogisticRegression('l2', C=1)",
    "LogisticRegression(C=1e5)",
    "LogisticRegression(max_iter=1000)",
    "LogisticRegression(random_state=0)",
    "LogisticRegression(solver='lbfgs')",
    "LogisticRegression(fit_intercept=False)",
    "LogisticRegression(penalty=None)",
    "LogisticRegression(penalty='none')",  # old
    "LogisticRegression(multi_class='ovr')",  # old
    "LogisticRegression(n_jobs=1, C=1e5)",
    "LogisticRegression(max_iter=1000, random_state=42)",
    "LogisticRegression(max_iter=1000, class_weight='balanced')",
    "LogisticRegression(warm_start=True, max_iter=100)",
    "LogisticRegression(class_weight={0: 1, 1: 5}, random_state=42)",
    "LogisticRegression(C=0.5, class_weight='balanced', max_iter=2000)",
    "LogisticRegression(C=np.inf, solver='lbfgs', max_iter=1000)",
    "LogisticRegression(verbose=1, solver='lbfgs', max_iter=100)",
    "LogisticRegression(solver='liblinear', random_state=0)",
    "LogisticRegression(solver='newton-cg', tol=1)",
    "LogisticRegression(solver='newton-cholesky', random_state=0)",
    "LogisticRegression(solver='saga', n_jobs=-1, max_iter=5000)",
    "LogisticRegression(penalty='l2', C=1.0, solver='lbfgs', max_iter=1000)",
    "LogisticRegression(penalty='l2', max_iter=2000, C=100.0, solver='sag', class_weight='balanced')",
    "LogisticRegression(dual=True, C=1.0, solver='liblinear', class_weight='balanced', max_iter=1000, random_state=42)",
    "LogisticRegression(l1_ratio=0, C=1.0, max_iter=2000, class_weight='balanced')",
    "LogisticRegression(C=1e5, solver='lbfgs', multi_class='multinomial')",  # old
    "LogisticRegression(penalty='l2', dual=False, tol=0.0001, C=1.0, fit_intercept=True, intercept_scaling=1, class_weight=None, random_state=None, solver='liblinear', max_iter=100, multi_class='ovr', verbose=0)",  # old
    "LogisticRegression(penalty='l1', solver='liblinear', random_state=42)",  # L1
    "LogisticRegression(penalty='elasticnet', solver='saga', l1_ratio=0.5, random_state=0)",  # L1
    # LogisticRegressionCV: 8
    "LogisticRegressionCV()",
    "LogisticRegressionCV(Cs=10, cv=5, penalty='l2', scoring='accuracy')",
    "LogisticRegressionCV(Cs=np.logspace(-4, 4, 20), penalty='l2')",
    "LogisticRegressionCV(cv=5, class_weight='balanced', max_iter=2000)",
    "LogisticRegressionCV(Cs=10, cv=5, scoring='roc_auc', solver='lbfgs', max_iter=2000, random_state=42)",
    "LogisticRegressionCV(Cs=[0.01, 0.1, 1.0, 10.0], cv=5, max_iter=1000, class_weight='balanced', scoring='f1_macro')",
    "LogisticRegressionCV(cv=5, random_state=0, solver='lbfgs', multi_class='multinomial')",  # old
    "LogisticRegressionCV(penalty='l1', solver='saga', cv=5, random_state=42, max_iter=10000)",  # L1
    # LinearSVR: 9
    "LinearSVR()",
    "LinearSVR(random_state=42)",
    "LinearSVR(max_iter=10000)",
    "LinearSVR(C=1.0, epsilon=0.1)",
    "LinearSVR(epsilon=1.5, random_state=42)",
    "LinearSVR(random_state=0, tol=1e-5)",
    "LinearSVR(C=1, dual=False, loss='squared_epsilon_insensitive')",
    "LinearSVR(epsilon=0.0, C=1.0, dual=True, loss='epsilon_insensitive')",
    "LinearSVR(epsilon=0.0, tol=0.0001, C=1.0, loss='epsilon_insensitive', fit_intercept=True, intercept_scaling=1.0, dual=True, verbose=0, random_state=None, max_iter=1000)",
    # Ridge: 13
    "Ridge()",
    "Ridge(1.0)",
    "Ridge(alpha=0)",
    "Ridge(alpha=1.0)",
    "Ridge(1.0, solver='cholesky')",
    "Ridge(alpha=1, solver='cholesky', random_state=42)",
    "Ridge(alpha=1.0, random_state=42)",
    "Ridge(alpha=0.1, fit_intercept=False)",
    "Ridge(alpha=0.01, fit_intercept=True, max_iter=10000)",
    "Ridge(alpha=1.0, copy_X=True, positive=False)",
    "Ridge(alpha=1.0, positive=True, fit_intercept=False)",
    "Ridge(solver='lsqr', alpha=1e-3, random_state=0)",
    "Ridge(alpha=0.1, normalize=True)",  # old
    # RidgeCV: 6
    "RidgeCV()",
    "RidgeCV(cv=5)",
    "RidgeCV(alphas=[0.1, 1.0, 10.0], cv=5)",
    "RidgeCV(alphas=np.logspace(-3, 3, 13))",
    "RidgeCV(alphas=np.logspace(-2, 2, 9), store_cv_results=True)",
    "RidgeCV(alphas=np.logspace(-1, 3, 50), cv=5, scoring='neg_root_mean_squared_error')",
    # QuantileRegressor: 5 (alpha is the weight of an L1 penalty, 1.0 by default)
    "QuantileRegressor(solver='highs')",  # L1
    "QuantileRegressor(quantile=0.5)",  # L1
    "QuantileRegressor(quantile=0.9, alpha=0)",
    "QuantileRegressor(quantile=0.5, alpha=0.0, solver='highs')",
    "QuantileRegressor(quantile=0.1, alpha=0.1, solver='highs')",  # L1
    # HuberRegressor: 5
    "HuberRegressor()",
    "HuberRegressor(epsilon=1.35, alpha=0.0001)",
    "HuberRegressor(epsilon=1.35, max_iter=500)",
    "HuberRegressor(alpha=0.0, epsilon=1.5)",
    "HuberRegressor(fit_intercept=True, max_iter=100, warm_start=True, tol=1e-5)",
    # RidgeClassifier: 4
    "RidgeClassifier()",
    "RidgeClassifier(alpha=1.0)",
    "RidgeClassifier(class_weight='balanced', random_state=42)",
    "RidgeClassifier(solver='sparse_cg', tol=1e-2)",
)
